/// Whether a copy of an answer may be kept. A cache further up asks this before it keeps the bytes for itself.
///
/// The verdict may become stricter while the body arrives, because a hook of the response cache sees the whole of it.
public final class StorageVerdict: Sendable {
    private let current: Locked<ResponseStoragePolicy>

    /// A verdict that may become stricter.
    public init(_ policy: ResponseStoragePolicy) { current = Locked(policy) }

    /// The verdict as it stands now.
    public var policy: ResponseStoragePolicy { current.withLock { $0 } }

    /// Makes the verdict `policy`, unless it is stricter already.
    public func restrict(to policy: ResponseStoragePolicy) { current.withLock { $0 = max($0, policy) } }
}
