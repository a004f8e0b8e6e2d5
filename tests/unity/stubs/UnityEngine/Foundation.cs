// The package AR Foundation, as far as a sample uses it.
namespace UnityEngine.XR.ARFoundation
{
    public sealed class ARSession : MonoBehaviour
    {
    }

    public sealed class ARCameraManager : MonoBehaviour
    {
    }
}
