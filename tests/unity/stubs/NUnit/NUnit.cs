// NUnit's API, as far as the package's tests use it.
#nullable disable
using System;
using System.Collections;

namespace NUnit.Framework
{
    [AttributeUsage(AttributeTargets.Method)]
    public sealed class TestAttribute : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Method, AllowMultiple = true)]
    public sealed class TestCaseAttribute : Attribute
    {
        public TestCaseAttribute(params object[] arguments) => Arguments = arguments;

        public object[] Arguments { get; }
    }

    [AttributeUsage(AttributeTargets.Method)]
    public sealed class TearDownAttribute : Attribute
    {
    }

    public class AssertionException : Exception
    {
        public AssertionException(string message) : base(message)
        {
        }
    }

    public delegate void TestDelegate();

    public static class Assert
    {
        public static void IsTrue(bool condition, string message = "") => Check(condition, message, "true expected");

        public static void IsFalse(bool condition, string message = "") => Check(!condition, message, "false expected");

        public static void IsNull(object value, string message = "") => Check(value is null, message, "null expected, not " + value);

        public static void IsNotNull(object value, string message = "") => Check(value != null, message, "null");

        public static void AreEqual(object expected, object actual, string message = "")
        {
            var same = Equals(expected, actual);
            if (expected is IEnumerable a && actual is IEnumerable b && !(expected is string)) same = Same(a.GetEnumerator(), b.GetEnumerator());
            Check(same, message, expected + " expected, not " + actual);
        }

        public static void AreEqual(long expected, long actual, string message = "") => Check(expected == actual, message, expected + " expected, not " + actual);

        public static void AreEqual(double expected, double actual, double delta, string message = "") =>
            Check(Math.Abs(expected - actual) <= delta, message, expected + " ± " + delta + " expected, not " + actual);

        public static void Greater(double a, double b, string message = "") => Check(a > b, message, a + " is not greater than " + b);

        public static void Less(double a, double b, string message = "") => Check(a < b, message, a + " is not less than " + b);

        public static T Throws<T>(TestDelegate code) where T : Exception
        {
            try
            {
                code();
            }
            catch (T error)
            {
                return error;
            }
            throw new AssertionException("no " + typeof(T).Name);
        }

        private static bool Same(IEnumerator a, IEnumerator b)
        {
            while (a.MoveNext())
                if (!b.MoveNext() || !Equals(a.Current, b.Current)) return false;
            return !b.MoveNext();
        }

        private static void Check(bool holds, string message, string what)
        {
            if (!holds) throw new AssertionException((message.Length > 0 ? message + ": " : "") + what);
        }
    }
}
