// Objects, components and their life cycle.
#nullable disable
using System;
using System.Collections.Generic;
using System.Linq;

namespace UnityEngine
{
    public class Object
    {
        private static int _last;
        private readonly int _id = ++_last;

        public virtual string name { get; set; } = "";

        internal bool Destroyed { get; private set; }

        public int GetInstanceID() => _id;

        public static void Destroy(Object target) => DestroyImmediate(target);

        public static void DestroyImmediate(Object target)
        {
            if (target == null) return;
            target.OnDestroyed();
            target.Destroyed = true;
        }

        public static T FindObjectOfType<T>() where T : Object => Player.All<T>().FirstOrDefault();

        // A destroyed object is equal to null.
        public static bool operator ==(Object a, Object b) => ReferenceEquals(Alive(a), Alive(b));

        public static bool operator !=(Object a, Object b) => !(a == b);

        public static implicit operator bool(Object target) => target != null;

        public override bool Equals(object other) => other is Object o ? this == o : other is null && Destroyed;

        public override int GetHashCode() => _id;

        protected virtual void OnDestroyed()
        {
        }

        private static object Alive(Object target) => target is null || target.Destroyed ? null : target;
    }

    public class Component : Object
    {
        public GameObject gameObject { get; internal set; }

        public override string name
        {
            get => gameObject.name;
            set => gameObject.name = value;
        }

        public Transform transform => gameObject.transform;

        public T GetComponent<T>() => gameObject.GetComponent<T>();

        public T GetComponentInChildren<T>(bool includeInactive = false) => gameObject.GetComponentsInChildren<T>(includeInactive).FirstOrDefault();

        public T[] GetComponentsInChildren<T>(bool includeInactive = false) => gameObject.GetComponentsInChildren<T>(includeInactive);

        protected override void OnDestroyed()
        {
            if (this is MonoBehaviour behaviour) Player.Leave(behaviour);
            gameObject.Components.Remove(this);
        }
    }

    public class Behaviour : Component
    {
        private bool _enabled = true;

        public bool enabled
        {
            get => _enabled;
            set
            {
                _enabled = value;
                if (this is MonoBehaviour behaviour) Player.Settle(behaviour);
            }
        }

        public bool isActiveAndEnabled => _enabled && gameObject.activeInHierarchy;
    }

    public class MonoBehaviour : Behaviour
    {
        public Player.Messages Messages { get; internal set; }
    }

    public sealed class GameObject : Object
    {
        private bool _active = true;

        public GameObject(string name = "New Game Object")
        {
            this.name = name;
            transform = new Transform { gameObject = this };
            Components.Add(transform);
        }

        public Transform transform { get; }

        public bool activeSelf => _active;

        public bool activeInHierarchy => _active && (transform.parent is null || transform.parent.gameObject.activeInHierarchy);

        internal List<Component> Components { get; } = new List<Component>();

        public void SetActive(bool active)
        {
            _active = active;
            foreach (var behaviour in GetComponentsInChildren<MonoBehaviour>(true)) Player.Settle(behaviour);
        }

        public T AddComponent<T>() where T : Component => (T)AddComponent(typeof(T));

        public Component AddComponent(Type type)
        {
            foreach (RequireComponent need in type.GetCustomAttributes(typeof(RequireComponent), true))
                if (!Components.Any(c => need.Type.IsInstanceOfType(c))) AddComponent(need.Type);
            var component = (Component)Activator.CreateInstance(type, true);
            component.gameObject = this;
            Components.Add(component);
            if (component is MonoBehaviour behaviour) Player.Enter(behaviour);
            return component;
        }

        public T GetComponent<T>() => Components.OfType<T>().FirstOrDefault();

        public T GetComponentInChildren<T>() => GetComponentsInChildren<T>().FirstOrDefault();

        public T[] GetComponentsInChildren<T>(bool includeInactive = false)
        {
            var found = new List<T>();
            Collect(this, includeInactive, found);
            return found.ToArray();
        }

        protected override void OnDestroyed()
        {
            foreach (var child in transform.Children.ToArray()) DestroyImmediate(child.gameObject);
            foreach (var component in Components.ToArray())
                if (component is not Transform) DestroyImmediate(component);
            transform.SetParent(null);
        }

        private static void Collect<T>(GameObject from, bool inactive, List<T> found)
        {
            if (!inactive && !from.activeInHierarchy) return;
            found.AddRange(from.Components.OfType<T>());
            foreach (var child in from.transform.Children) Collect(child.gameObject, inactive, found);
        }
    }

    public class Transform : Component
    {
        private Transform _parent;

        internal List<Transform> Children { get; } = new List<Transform>();

        public Vector3 localPosition { get; set; } = Vector3.zero;

        public Quaternion localRotation { get; set; } = Quaternion.identity;

        public Vector3 localScale { get; set; } = Vector3.one;

        public Transform parent
        {
            get => _parent;
            set => SetParent(value);
        }

        public Quaternion rotation
        {
            get => _parent is null ? localRotation : _parent.rotation * localRotation;
            set => localRotation = _parent is null ? value : Quaternion.Inverse(_parent.rotation) * value;
        }

        public Vector3 position
        {
            get => _parent is null ? localPosition : _parent.TransformPoint(localPosition);
            set => localPosition = _parent is null ? value : _parent.InverseTransformPoint(value);
        }

        public Vector3 forward => rotation * Vector3.forward;

        public void SetParent(Transform value, bool worldPositionStays = true)
        {
            var (place, turn) = (position, rotation);
            _parent?.Children.Remove(this);
            _parent = value;
            _parent?.Children.Add(this);
            if (!worldPositionStays) return;
            position = place;
            rotation = turn;
        }

        public void SetPositionAndRotation(Vector3 place, Quaternion turn)
        {
            position = place;
            rotation = turn;
        }

        public Vector3 TransformPoint(Vector3 point) => position + rotation * Vector3.Scale(point, Scale());

        public Vector3 InverseTransformPoint(Vector3 point)
        {
            var (local, scale) = (Quaternion.Inverse(rotation) * (point - position), Scale());
            return new Vector3(local.x / scale.x, local.y / scale.y, local.z / scale.z);
        }

        private Vector3 Scale() => _parent is null ? localScale : Vector3.Scale(_parent.Scale(), localScale);
    }

    public class ScriptableObject : Object
    {
        public static T CreateInstance<T>() where T : ScriptableObject => (T)Activator.CreateInstance(typeof(T), true);
    }

    public sealed class TextAsset : Object
    {
        public TextAsset(string text) => this.text = text;

        public string text { get; }
    }
}
