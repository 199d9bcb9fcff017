/// The limits of a ``LoopbackOrigin``.
public struct OriginOptions: Sendable {
    /// Most bytes of a request's head; a longer one is answered 431. Default: 16 KiB.
    public var headLimit = 16 << 10
    /// Most bytes of a request's body; a longer one is answered 413. Default: 16 MiB.
    public var bodyLimit = 16 << 20
    /// Most requests that are kept in the log; later ones are counted only. Default: 20,000.
    public var logLimit = 20_000
    /// Most connections at once; further ones wait to be accepted. Default: 512.
    public var connectionLimit = 512

    /// The defaults.
    public init() {}
}
