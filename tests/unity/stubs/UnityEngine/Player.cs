// What runs a scene here, in place of Unity's player: not part of Unity's API.
#nullable disable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

namespace UnityEngine
{
    public static class Player
    {
        private static readonly List<MonoBehaviour> Behaviours = new List<MonoBehaviour>();
        private static MonoBehaviour[] _order = Array.Empty<MonoBehaviour>();

        // A component's messages, bound once: calling them allocates nothing.
        public sealed class Messages
        {
            public Action Awake, OnEnable, Start, Update, LateUpdate, OnDisable, OnDestroy, OnApplicationQuit, OnGUI;
            public Action<bool> OnApplicationPause;
            public Action<float[], int> OnAudioFilterRead;
            public AudioSource Source;
            public int Order;
            public bool Woke, Enabled, Started;
        }

        // One turn of the loop: Start of what is new, Update and LateUpdate of all, by execution order.
        public static void Frame(float seconds)
        {
            Time.deltaTime = seconds;
            Time.unscaledDeltaTime = seconds;
            Time.time += seconds;
            Time.unscaledTime += seconds;
            Time.frameCount++;
            for (var i = 0; i < _order.Length; i++)
            {
                var messages = _order[i].Messages;
                if (!messages.Enabled || messages.Started) continue;
                messages.Started = true;
                Call(messages.Start);
            }
            for (var i = 0; i < _order.Length; i++)
                if (_order[i].Messages.Enabled) Call(_order[i].Messages.Update);
            for (var i = 0; i < _order.Length; i++)
                if (_order[i].Messages.Enabled) Call(_order[i].Messages.LateUpdate);
        }

        // What a component throws goes to the console; the others go on.
        private static void Call(Action message)
        {
            try
            {
                message?.Invoke();
            }
            catch (Exception error)
            {
                Debug.LogException(error);
            }
        }

        // One block of the audio thread: what every playing source makes, mixed. Any thread.
        public static void Audio(float[] block, int channels, float[] scratch)
        {
            Array.Clear(block, 0, block.Length);
            foreach (var behaviour in _order)
            {
                var filter = behaviour.Messages.OnAudioFilterRead;
                if (!behaviour.Messages.Enabled || filter == null) continue;
                var source = behaviour.Messages.Source ??= behaviour.GetComponent<AudioSource>();
                if (source is null || !source.isPlaying) continue;
                source.Render(scratch, channels);
                filter(scratch, channels);
                for (var i = 0; i < block.Length; i++) block[i] += scratch[i];
            }
        }

        public static void Quit()
        {
            foreach (var behaviour in Behaviours.ToArray()) behaviour.Messages.OnApplicationQuit?.Invoke();
            Application.Quitting();
            Reload();
        }

        public static void Pause(bool paused)
        {
            foreach (var behaviour in Behaviours.ToArray()) behaviour.Messages.OnApplicationPause?.Invoke(paused);
        }

        // The end of play mode, or of the scene: everything is disabled and destroyed.
        public static void Reload()
        {
            foreach (var behaviour in Behaviours.ToArray()) Object.DestroyImmediate(behaviour);
            Behaviours.Clear();
            _order = Array.Empty<MonoBehaviour>();
        }

        public static IEnumerable<T> All<T>() => Behaviours.OfType<T>();

        internal static void Enter(MonoBehaviour behaviour)
        {
            var type = behaviour.GetType();
            var order = (DefaultExecutionOrder)type.GetCustomAttributes(typeof(DefaultExecutionOrder), true).FirstOrDefault();
            behaviour.Messages = new Messages
            {
                Awake = Bind<Action>(behaviour, "Awake"),
                OnEnable = Bind<Action>(behaviour, "OnEnable"),
                Start = Bind<Action>(behaviour, "Start"),
                Update = Bind<Action>(behaviour, "Update"),
                LateUpdate = Bind<Action>(behaviour, "LateUpdate"),
                OnDisable = Bind<Action>(behaviour, "OnDisable"),
                OnDestroy = Bind<Action>(behaviour, "OnDestroy"),
                OnApplicationQuit = Bind<Action>(behaviour, "OnApplicationQuit"),
                OnGUI = Bind<Action>(behaviour, "OnGUI"),
                OnApplicationPause = Bind<Action<bool>>(behaviour, "OnApplicationPause"),
                OnAudioFilterRead = Bind<Action<float[], int>>(behaviour, "OnAudioFilterRead"),
                Order = order?.Order ?? 0,
            };
            Behaviours.Add(behaviour);
            _order = Behaviours.OrderBy(b => b.Messages.Order).ToArray();
            Settle(behaviour);
        }

        internal static void Settle(MonoBehaviour behaviour)
        {
            var messages = behaviour.Messages;
            if (messages == null) return;
            var active = behaviour.isActiveAndEnabled;
            if (behaviour.gameObject.activeInHierarchy && !messages.Woke)
            {
                messages.Woke = true;
                messages.Awake?.Invoke();
            }
            if (active == messages.Enabled) return;
            messages.Enabled = active;
            if (active) messages.OnEnable?.Invoke();
            else messages.OnDisable?.Invoke();
        }

        internal static void Leave(MonoBehaviour behaviour)
        {
            if (behaviour.Messages.Enabled)
            {
                behaviour.Messages.Enabled = false;
                behaviour.Messages.OnDisable?.Invoke();
            }
            behaviour.Messages.OnDestroy?.Invoke();
            Behaviours.Remove(behaviour);
            _order = Behaviours.OrderBy(b => b.Messages.Order).ToArray();
        }

        private static T Bind<T>(MonoBehaviour behaviour, string name) where T : Delegate
        {
            var method = behaviour.GetType().GetMethod(name, BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic);
            return method == null ? null : (T)Delegate.CreateDelegate(typeof(T), behaviour, method, false);
        }
    }
}
