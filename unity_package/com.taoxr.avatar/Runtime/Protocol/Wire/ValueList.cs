#nullable enable
using System;
using System.Collections;
using System.Collections.Generic;

namespace Taoxr.Protocol
{
    /// <summary>Repeated numbers or enums in one array, which is kept when the list is cleared.</summary>
    public sealed class ValueList<T> where T : unmanaged
    {
        private T[] _array = Array.Empty<T>();

        /// <summary>Numbers in it.</summary>
        public int Count { get; private set; }

        /// <summary>The numbers, until the list changes.</summary>
        public Span<T> Span => new Span<T>(_array, 0, Count);

        /// <summary>One of them.</summary>
        public T this[int index]
        {
            get => Span[index];
            set => Span[index] = value;
        }

        /// <summary>Puts one at the end.</summary>
        public void Add(T value) => Extend(1)[0] = value;

        /// <summary>Replaces all by a copy.</summary>
        public void Set(ReadOnlySpan<T> values)
        {
            Count = 0;
            values.CopyTo(Extend(values.Length));
        }

        /// <summary>Empties it; the array stays.</summary>
        public void Clear() => Count = 0;

        /// <summary>Makes it longer.</summary>
        /// <param name="count">By how many numbers.</param>
        /// <returns>The new ones, to be filled.</returns>
        public Span<T> Extend(int count)
        {
            var start = Count;
            var needed = checked(start + count);
            if (needed > _array.Length) Array.Resize(ref _array, Growth.Of(_array.Length, needed));
            Count = needed;
            return new Span<T>(_array, start, count);
        }
    }

    /// <summary>Repeated messages. Those of a cleared list are kept, and come again.</summary>
    public sealed class MessageList<T> : IReadOnlyList<T> where T : class, IMessage
    {
        private readonly Func<T> _make;
        private readonly List<T> _messages = new List<T>();

        /// <param name="make">Makes an empty message. (A "new" of a type parameter would be reflection.)</param>
        public MessageList(Func<T> make)
        {
            _make = make;
        }

        /// <summary>Messages in it.</summary>
        public int Count { get; private set; }

        /// <summary>One of them.</summary>
        public T this[int index] =>
            index < Count ? _messages[index] : throw new ArgumentOutOfRangeException(nameof(index));

        /// <summary>Puts an empty message at the end.</summary>
        /// <returns>The message, to be filled.</returns>
        public T Add()
        {
            if (Count == _messages.Count) _messages.Add(_make());
            var message = _messages[Count++];
            message.Clear();
            return message;
        }

        /// <summary>Puts a message at the end.</summary>
        public void Add(T message)
        {
            if (Count == _messages.Count) _messages.Add(message);
            else _messages[Count] = message;
            Count++;
        }

        /// <summary>Empties it; its messages will be used again.</summary>
        public void Clear() => Count = 0;

        /// <summary>Goes through the messages without allocating.</summary>
        public Enumerator GetEnumerator() => new Enumerator(this);

        IEnumerator<T> IEnumerable<T>.GetEnumerator() => GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

        /// <summary>Goes through the messages of a list.</summary>
        public struct Enumerator : IEnumerator<T>
        {
            private readonly MessageList<T> _list;
            private int _index;

            internal Enumerator(MessageList<T> list)
            {
                _list = list;
                _index = -1;
            }

            /// <inheritdoc/>
            public T Current => _list[_index];

            object IEnumerator.Current => Current;

            /// <inheritdoc/>
            public bool MoveNext() => ++_index < _list.Count;

            /// <inheritdoc/>
            public void Reset() => _index = -1;

            /// <inheritdoc/>
            public void Dispose()
            {
            }
        }
    }
}
