#nullable enable
using System.Collections.Generic;
using System.Threading;
using Taoxr.Protocol.V1;
using Taoxr.Transport;

namespace Taoxr.Client
{
    /// <summary>
    /// From the thread that reads to the one that polls: messages, and steps of the conversation, in order. When it is full the
    /// reader waits. Messages come back, to be filled again.
    /// </summary>
    internal sealed class Inbox
    {
        /// <summary>Most messages that wait.</summary>
        public const int MostMessages = 256;

        /// <summary>Most bytes on the wire of those that wait; one more message may go beyond it.</summary>
        public const int MostBytes = 4 << 20;

        /// <summary>Most bytes of one message.</summary>
        public const int LargestMessage = 1 << 20;

        // A message keeps the arrays it grew; one of an unusual size is not kept.
        private const int LargestKept = 1 << 18;

        private readonly object _gate = new object();
        private readonly Queue<Entry> _entries = new Queue<Entry>(MostMessages + 8);
        private readonly Stack<ConverseResponse> _spare = new Stack<ConverseResponse>(MostMessages);
        private long _bytes;
        private Entry _lastChange;
        private bool _changedLast;
        private bool _readerWaits;
        private bool _closed;

        internal readonly struct Entry
        {
            public Entry(ConverseResponse response, int bytes)
            {
                Response = response;
                Bytes = bytes;
                State = default;
                Error = null;
            }

            public Entry(SessionState state, RpcException? error)
            {
                Response = null;
                Bytes = 0;
                State = state;
                Error = error;
            }

            public ConverseResponse? Response { get; }

            public int Bytes { get; }

            public SessionState State { get; }

            public RpcException? Error { get; }
        }

        /// <summary>Entries that wait.</summary>
        public int Count
        {
            get
            {
                lock (_gate) return _entries.Count + (_changedLast ? 1 : 0);
            }
        }

        /// <summary>A message to be filled; waits while the queue is full.</summary>
        public ConverseResponse Rent()
        {
            lock (_gate)
            {
                while (!_closed && IsFull)
                {
                    _readerWaits = true;
                    Monitor.Wait(_gate);
                }
                return _spare.Count > 0 ? _spare.Pop() : new ConverseResponse();
            }
        }

        /// <summary>Puts a message that was rented at the end.</summary>
        public void Add(ConverseResponse response, int bytes)
        {
            lock (_gate)
            {
                if (_closed)
                {
                    _spare.Push(response);
                    return;
                }
                SettleChange();
                _entries.Enqueue(new Entry(response, bytes));
                _bytes += bytes;
            }
        }

        /// <summary>Puts a step at the end; it takes the place of one that is there, for nobody saw what was between them.</summary>
        public void Add(SessionState state, RpcException? error = null)
        {
            lock (_gate)
            {
                if (_changedLast && _lastChange.State == SessionState.Ended) return;
                _lastChange = new Entry(state, error);
                _changedLast = true;
            }
        }

        /// <summary>Takes the first entry. Never waits.</summary>
        public bool TryTake(out Entry entry)
        {
            lock (_gate)
            {
                if (_entries.Count == 0)
                {
                    entry = _lastChange;
                    var there = _changedLast;
                    _changedLast = false;
                    return there;
                }
                entry = _entries.Dequeue();
                _bytes -= entry.Bytes;
                if (_readerWaits && !IsFull)
                {
                    _readerWaits = false;
                    Monitor.PulseAll(_gate);
                }
                return true;
            }
        }

        /// <summary>Takes a message back that was taken.</summary>
        public void GiveBack(Entry entry, bool kept)
        {
            if (kept || entry.Bytes > LargestKept) return;
            lock (_gate)
                if (_spare.Count < MostMessages) _spare.Push(entry.Response!);
        }

        /// <summary>Takes a message back that was not filled.</summary>
        public void GiveBack(ConverseResponse response)
        {
            lock (_gate) _spare.Push(response);
        }

        /// <summary>Nobody polls any more: what is there and what comes is thrown away.</summary>
        public void Close()
        {
            lock (_gate)
            {
                _closed = true;
                _entries.Clear();
                _changedLast = false;
                Monitor.PulseAll(_gate);
            }
        }

        private bool IsFull => _entries.Count >= MostMessages || _bytes >= MostBytes;

        private void SettleChange()
        {
            if (!_changedLast) return;
            _entries.Enqueue(_lastChange);
            _changedLast = false;
        }
    }
}
