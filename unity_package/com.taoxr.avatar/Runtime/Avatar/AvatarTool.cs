#nullable enable
using System;
using Taoxr.Client;

namespace Taoxr.Avatar
{
    /// <summary>A function of your game that the avatar may call.</summary>
    public sealed class AvatarTool
    {
        /// <param name="name">1 to 64 letters, digits, "_" and "-".</param>
        /// <param name="description">When to call it and what it does, for the language model.</param>
        /// <param name="parameters">JSON Schema of its arguments, an object; empty: none.</param>
        /// <param name="run">Runs it, on the main thread; answers now or later.</param>
        public AvatarTool(string name, string description, string parameters, Action<AvatarToolCall> run)
        {
            Name = name;
            Description = description;
            Parameters = parameters;
            Run = run;
        }

        /// <summary>Its name.</summary>
        public string Name { get; }

        /// <summary>What it does.</summary>
        public string Description { get; }

        /// <summary>JSON Schema of its arguments.</summary>
        public string Parameters { get; }

        /// <summary>Runs it.</summary>
        public Action<AvatarToolCall> Run { get; }
    }

    /// <summary>The avatar calls a tool, and waits for an answer.</summary>
    public sealed class AvatarToolCall
    {
        private readonly ConversationSession _session;
        private readonly string _id;

        internal AvatarToolCall(ConversationSession session, string id, string arguments)
        {
            _session = session;
            _id = id;
            Arguments = arguments;
        }

        /// <summary>A JSON object, as the language model wrote it: it may not keep to the schema. JsonUtility reads it.</summary>
        public string Arguments { get; }

        /// <summary>What came of it, for the language model: text or JSON, at most 4,000 characters.</summary>
        public void Answer(string output) => _session.AnswerTool(_id, output);

        /// <summary>Why it failed, in words that the avatar may pass on.</summary>
        public void Fail(string error) => _session.FailTool(_id, error);
    }
}
