// Runs the tests of an assembly, as Unity's test runner does with the package's: one line per test that fails, then how many ran.
//
//   nunit_runner NAME...     assemblies that it was compiled with
using System;
using System.Linq;
using System.Reflection;
using NUnit.Framework;

public static class NUnitRunner
{
    public static int Main(string[] names)
    {
        var ran = 0;
        var failed = 0;
        foreach (var type in names.SelectMany(name => Assembly.Load(name).GetTypes()))
        {
            var methods = type.GetMethods(BindingFlags.Instance | BindingFlags.Public | BindingFlags.DeclaredOnly);
            foreach (var method in methods)
            {
                var cases = method.GetCustomAttributes<TestCaseAttribute>().Select(c => c.Arguments).ToList();
                if (method.GetCustomAttribute<TestAttribute>() != null) cases.Add(Array.Empty<object>());
                foreach (var arguments in cases)
                {
                    ran++;
                    var fixture = Activator.CreateInstance(type);
                    try
                    {
                        method.Invoke(fixture, arguments);
                    }
                    catch (TargetInvocationException error)
                    {
                        failed++;
                        Console.WriteLine(type.Name + "." + method.Name + "(" + string.Join(", ", arguments) + "): " + error.InnerException);
                    }
                    foreach (var end in methods.Where(m => m.GetCustomAttribute<TearDownAttribute>() != null)) end.Invoke(fixture, null);
                }
            }
        }
        Console.WriteLine(ran + " ran");
        return failed == 0 && ran > 0 ? 0 : 1;
    }
}
