// A C# 9 compiler with csc's options, on the Roslyn assemblies beside it. Debian's Mono has none: its own mcs, which
// compiles this file, knows C# 7.
//
//   csc OPTIONS FILES [-- OPTIONS FILES]...
//
// -r:FILE, -out:FILE, -target:library|exe, -d:A;B. Every "--" begins another assembly: one start of the compiler makes
// several. Every warning is an error. Diagnostics go to standard output; the status is 1 when there are any.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Text;

static class Csc
{
    static int Main(string[] arguments)
    {
        var failed = false;
        var one = new List<string>();
        foreach (var argument in arguments)
        {
            if (argument != "--")
            {
                one.Add(argument);
                continue;
            }
            failed |= !Compile(one);
            one.Clear();
        }
        failed |= !Compile(one);
        return failed ? 1 : 0;
    }

    static bool Compile(List<string> arguments)
    {
        var output = "out.dll";
        var kind = OutputKind.ConsoleApplication;
        var defines = new List<string>();
        var references = new List<MetadataReference>();
        var files = new List<string>();
        foreach (var argument in arguments)
        {
            if (argument.StartsWith("-r:"))
                references.Add(MetadataReference.CreateFromFile(argument.Substring(3), default(MetadataReferenceProperties), null));
            else if (argument.StartsWith("-out:")) output = argument.Substring(5);
            else if (argument == "-target:library") kind = OutputKind.DynamicallyLinkedLibrary;
            else if (argument == "-target:exe") kind = OutputKind.ConsoleApplication;
            else if (argument.StartsWith("-d:")) defines.AddRange(argument.Substring(3).Split(';'));
            else if (argument.StartsWith("-")) throw new ArgumentException("unknown option " + argument);
            else files.Add(argument);
        }
        var parsing = new CSharpParseOptions(LanguageVersion.CSharp9, DocumentationMode.Diagnose, SourceCodeKind.Regular, defines);
        var trees = new List<SyntaxTree>();
        foreach (var file in files)
            trees.Add(CSharpSyntaxTree.ParseText(SourceText.From(File.ReadAllText(file), Encoding.UTF8), parsing, file));
        var options = new CSharpCompilationOptions(
            kind,
            optimizationLevel: OptimizationLevel.Release,
            deterministic: true,
            generalDiagnosticOption: ReportDiagnostic.Error,
            // Unity does not document everything either; two assembly versions meet only in the references.
            specificDiagnosticOptions: new Dictionary<string, ReportDiagnostic>
            {
                { "CS1591", ReportDiagnostic.Suppress },
                { "CS1701", ReportDiagnostic.Suppress },
                { "CS1702", ReportDiagnostic.Suppress },
            });
        var name = Path.GetFileNameWithoutExtension(output);
        using (var stream = new MemoryStream())
        {
            var result = CSharpCompilation.Create(name, trees, references, options).Emit(stream);
            foreach (var diagnostic in result.Diagnostics)
                if (diagnostic.Severity >= DiagnosticSeverity.Warning)
                    Console.WriteLine(diagnostic);
            if (!result.Success) return false;
            File.WriteAllBytes(output, stream.ToArray());
            return true;
        }
    }
}
