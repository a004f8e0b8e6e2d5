// Answers questions about messages over standard input and output, so that one process serves all tests.
//
// A request is an operation (one byte), the C# name of a message and bytes; an answer is a status (0, or 1 for a
// ProtocolException) and bytes. Names and bytes come behind their length, 32 bits, little-endian. Reflection is used here,
// in the tests only, to look at messages from outside.
//   p  parse: the properties as text, the message written again, and a copy made through the properties, written
//   a  parse and write 1,000 times into the same objects: bytes allocated on .NET, 0 on Mono, as text
//   u  parse with the strings cached, twice: "1" when the properties are the same
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;
using Taoxr.Protocol;

public static class CodecServer
{
    public static void Main()
    {
        var input = new BinaryReader(new BufferedStream(Console.OpenStandardInput()));
        var output = new BinaryWriter(new BufferedStream(Console.OpenStandardOutput()));
        while (true)
        {
            int operation;
            try
            {
                operation = input.ReadByte();
            }
            catch (EndOfStreamException)
            {
                return;
            }
            var name = Encoding.UTF8.GetString(input.ReadBytes(input.ReadInt32()));
            var bytes = input.ReadBytes(input.ReadInt32());
            byte status = 0;
            byte[] answer;
            try
            {
                answer = Answer((char)operation, New(name), bytes);
            }
            catch (ProtocolException error)
            {
                status = 1;
                answer = Encoding.UTF8.GetBytes(error.Message);
            }
            output.Write(status);
            output.Write(answer.Length);
            output.Write(answer);
            output.Flush();
        }
    }

    private static IMessage New(string name)
    {
        var type = typeof(IMessage).Assembly.GetType(name) ?? throw new ArgumentException("no type " + name);
        return (IMessage)Activator.CreateInstance(type);
    }

    private static byte[] Answer(char operation, IMessage message, byte[] bytes)
    {
        switch (operation)
        {
            case 'p':
                Messages.Parse(message, bytes);
                return Parts(Encoding.UTF8.GetBytes(Text(message)), Messages.ToBytes(message), Messages.ToBytes(Copy(message)));
            case 'a':
                return Encoding.UTF8.GetBytes(Allocated(message, bytes).ToString(CultureInfo.InvariantCulture));
            case 'u':
                var strings = new StringCache();
                Messages.Parse(message, bytes, strings);
                var first = Text(message);
                Messages.Parse(message, bytes, strings);
                return Encoding.UTF8.GetBytes(first == Text(message) ? "1" : "0");
            default:
                throw new ArgumentException("no operation " + operation);
        }
    }

    private static byte[] Parts(params byte[][] parts)
    {
        var stream = new MemoryStream();
        var writer = new BinaryWriter(stream);
        foreach (var part in parts)
        {
            writer.Write(part.Length);
            writer.Write(part);
        }
        return stream.ToArray();
    }

    private static long Allocated(IMessage message, byte[] bytes)
    {
        var strings = new StringCache();
        var buffer = new ByteBuffer();
        long before = 0;
        for (var i = 0; i < 1010; i++)
        {
            if (i == 10) before = AllocatedSoFar();
            Messages.Parse(message, bytes, strings);
            buffer.Clear();
            Messages.Append(message, buffer);
        }
        return AllocatedSoFar() - before;
    }

    private static long AllocatedSoFar()
    {
#if DOTNET
        return GC.GetAllocatedBytesForCurrentThread();
#else
        return 0;
#endif
    }

    private static IEnumerable<PropertyInfo> Properties(IMessage message) =>
        message.GetType().GetProperties().Where(p => p.Name != "CachedSize" && !p.PropertyType.Name.EndsWith("OneofCase"));

    // Whether the property is a field of a oneof that holds another one.
    private static bool Inactive(IMessage message, PropertyInfo property)
    {
        foreach (var oneof in message.GetType().GetProperties().Where(p => p.PropertyType.Name.EndsWith("OneofCase")))
        {
            if (Enum.IsDefined(oneof.PropertyType, property.Name) && oneof.GetValue(message).ToString() != property.Name) return true;
        }
        return false;
    }

    private static string Text(IMessage message)
    {
        var lines = new List<string>();
        Describe(message, "", lines);
        lines.Sort(string.CompareOrdinal);
        return string.Join("\n", lines);
    }

    private static void Describe(object value, string path, List<string> lines)
    {
        switch (value)
        {
            case null:
                return;
            case IMessage message:
                lines.Add(path + "{}");
                foreach (var property in Properties(message))
                {
                    if (!Inactive(message, property)) Describe(property.GetValue(message), path + "." + property.Name, lines);
                    else if (property.PropertyType.IsClass && property.PropertyType != typeof(string) && property.GetValue(message) != null)
                        throw new InvalidOperationException(path + "." + property.Name + " is set in a oneof that is not");
                }
                return;
            case ByteBuffer buffer:
                lines.Add(path + "=b" + Hex(buffer.Span.ToArray()));
                return;
            case string text:
                lines.Add(path + "=s" + Hex(Encoding.UTF8.GetBytes(text)));
                return;
            case float number:
                lines.Add(path + "=f" + BitConverter.ToInt32(BitConverter.GetBytes(number), 0));
                return;
            case double number:
                lines.Add(path + "=d" + BitConverter.DoubleToInt64Bits(number));
                return;
            case bool flag:
                lines.Add(path + "=" + (flag ? "1" : "0"));
                return;
            case Enum number:
                lines.Add(path + "=" + Convert.ToInt32(number));
                return;
            case IDictionary map:
                foreach (DictionaryEntry entry in map) Describe(entry.Value, path + "[" + Hex(Encoding.UTF8.GetBytes((string)entry.Key)) + "]", lines);
                return;
            case IEnumerable list:
                var index = 0;
                foreach (var item in list) Describe(item, path + "[" + index++ + "]", lines);
                return;
            case object list when IsValueList(list.GetType()):
                for (var i = 0; i < Count(list); i++) Describe(Item(list, i), path + "[" + i + "]", lines);
                return;
            default:
                lines.Add(path + "=" + Convert.ToString(value, CultureInfo.InvariantCulture));
                return;
        }
    }

    private static IMessage Copy(IMessage message)
    {
        var copy = (IMessage)Activator.CreateInstance(message.GetType());
        foreach (var property in Properties(message).Where(p => !Inactive(message, p)))
        {
            var value = property.GetValue(message);
            var into = property.GetValue(copy);
            if (value is IMessage inner) property.SetValue(copy, Copy(inner));
            else if (value is ByteBuffer buffer)
            {
                if (into == null) property.SetValue(copy, into = new ByteBuffer());
                ((ByteBuffer)into).Set(buffer.Span);
            }
            else if (value is IDictionary map) foreach (DictionaryEntry entry in map) ((IDictionary)into).Add(entry.Key, entry.Value);
            else if (value is IList list) foreach (var item in list) ((IList)into).Add(item);
            else if (value is IEnumerable messages && !(value is string))
            {
                var add = into.GetType().GetMethods().Single(m => m.Name == "Add" && m.GetParameters().Length == 1);
                foreach (IMessage item in messages) add.Invoke(into, new object[] { Copy(item) });
            }
            else if (value != null && IsValueList(value.GetType()))
                for (var i = 0; i < Count(value); i++) into.GetType().GetMethod("Add").Invoke(into, new[] { Item(value, i) });
            else property.SetValue(copy, value);
        }
        return copy;
    }

    private static bool IsValueList(Type type) => type.IsGenericType && type.GetGenericTypeDefinition() == typeof(ValueList<>);

    private static int Count(object list) => (int)list.GetType().GetProperty("Count").GetValue(list);

    private static object Item(object list, int index) => list.GetType().GetProperty("Item").GetValue(list, new object[] { index });

    private static string Hex(byte[] bytes) => string.Concat(bytes.Select(b => b.ToString("x2", CultureInfo.InvariantCulture)));
}
