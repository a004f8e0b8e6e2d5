#nullable enable
using System;
using UnityEngine;
using UnityEngine.Events;

namespace Taoxr.Avatar
{
    /// <summary>
    /// Shows what the user and the avatar say: in a TextMesh, and through an event for any other text (TextMesh Pro, UI Toolkit).
    /// The avatar's words come as they are heard.
    /// </summary>
    [AddComponentMenu("taoxr/Caption View")]
    [DisallowMultipleComponent]
    public sealed class CaptionView : MonoBehaviour
    {
        [Tooltip("Where it is written; may be empty.")]
        public TextMesh? text;

        [Tooltip("Characters per line.")]
        [Range(10, 200)]
        public int lineLength = 44;

        [Tooltip("Lines that are shown; the oldest go.")]
        [Range(1, 10)]
        public int lines = 4;

        [Tooltip("Whether the user's words are shown, too.")]
        public bool showUser = true;

        [Tooltip("Gets every new caption.")]
        public CaptionEvent changed = new CaptionEvent();

        /// <summary>An event with a text.</summary>
        [Serializable]
        public sealed class CaptionEvent : UnityEvent<string>
        {
        }

        /// <summary>What is shown.</summary>
        public string Caption { get; private set; } = "";

        /// <summary>What the user said, as far as it is known.</summary>
        public void ShowUser(string words)
        {
            if (showUser && words.Length > 0) Write("“" + words + "”");
        }

        /// <summary>What the avatar said so far.</summary>
        public void ShowAvatar(string words) => Write(words);

        /// <summary>Something that went wrong, or is going on.</summary>
        public void ShowNote(string words) => Write("(" + words + ")");

        private void Write(string words)
        {
            var wrapped = Wrap(words, lineLength, lines);
            if (wrapped == Caption) return;
            Caption = wrapped;
            if (text != null) text.text = wrapped;
            changed.Invoke(wrapped);
        }

        /// <summary>The last lines of a text.</summary>
        public static string Wrap(string words, int lineLength, int lines)
        {
            var rows = new System.Collections.Generic.List<string>();
            var row = "";
            foreach (var word in words.Split(new[] { ' ', '\n' }, StringSplitOptions.RemoveEmptyEntries))
            {
                if (row.Length > 0 && row.Length + 1 + word.Length > lineLength)
                {
                    rows.Add(row);
                    row = "";
                }
                row = row.Length == 0 ? word : row + " " + word;
            }
            rows.Add(row);
            var first = Math.Max(0, rows.Count - lines);
            return string.Join("\n", rows.GetRange(first, rows.Count - first));
        }
    }
}
