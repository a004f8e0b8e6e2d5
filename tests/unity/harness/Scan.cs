// Lists what an assembly refers to, for the check that IL2CPP can compile it ahead of time: one line per type
// ("Namespace.Type") and per member of such a type ("Namespace.Type::Member"), from its metadata.
//
//   scan ASSEMBLY.dll
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

public static class Scan
{
    public static void Main(string[] arguments)
    {
        using var file = File.OpenRead(arguments[0]);
        using var portable = new PEReader(file);
        var metadata = portable.GetMetadataReader();
        var lines = new SortedSet<string>(StringComparer.Ordinal);
        foreach (var handle in metadata.TypeReferences) lines.Add(Name(metadata, handle));
        foreach (var handle in metadata.MemberReferences)
        {
            var member = metadata.GetMemberReference(handle);
            if (member.Parent.Kind == HandleKind.TypeReference)
                lines.Add(Name(metadata, (TypeReferenceHandle)member.Parent) + "::" + metadata.GetString(member.Name));
        }
        foreach (var line in lines) Console.WriteLine(line);
    }

    private static string Name(MetadataReader metadata, TypeReferenceHandle handle)
    {
        var type = metadata.GetTypeReference(handle);
        return metadata.GetString(type.Namespace) + "." + metadata.GetString(type.Name);
    }
}
