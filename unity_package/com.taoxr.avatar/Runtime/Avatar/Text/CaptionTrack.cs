#nullable enable
using System.Collections.Generic;

namespace Taoxr.Avatar
{
    /// <summary>What the avatar says, clause by clause, each when it begins to be heard.</summary>
    public sealed class CaptionTrack
    {
        // The server is a second or two ahead; one that floods gets no more room than this.
        private const int MostWaiting = 256;

        private readonly Queue<Clause> _waiting = new Queue<Clause>();
        private string _turnId = "";

        private readonly struct Clause
        {
            public Clause(long us, string turnId, string text)
            {
                Us = us;
                TurnId = turnId;
                Text = text;
            }

            public long Us { get; }

            public string TurnId { get; }

            public string Text { get; }
        }

        /// <summary>What was heard of the turn so far.</summary>
        public string Text { get; private set; } = "";

        /// <summary>A clause that will be heard. Left out when 256 wait already.</summary>
        /// <param name="us">When it begins, in voice time.</param>
        /// <param name="turnId">Its turn.</param>
        /// <param name="text">The clause.</param>
        public void Add(long us, string turnId, string text)
        {
            if (text.Length > 0 && _waiting.Count < MostWaiting) _waiting.Enqueue(new Clause(us, turnId, text));
        }

        /// <summary>What waits will not be heard.</summary>
        public void Cut() => _waiting.Clear();

        /// <summary>Takes in what is heard by now.</summary>
        /// <returns>Whether the text has changed.</returns>
        public bool Update(long heardUs)
        {
            var changed = false;
            while (_waiting.Count > 0 && _waiting.Peek().Us <= heardUs)
            {
                var clause = _waiting.Dequeue();
                Text = clause.TurnId == _turnId && Text.Length > 0 ? Text.TrimEnd() + " " + clause.Text.TrimStart() : clause.Text.Trim();
                _turnId = clause.TurnId;
                changed = true;
            }
            return changed;
        }
    }
}
