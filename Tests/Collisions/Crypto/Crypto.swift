/// A substitute for swift-crypto.
public struct SHA256: Sendable {
    public static func hash(data: some Sequence<UInt8>) -> SHA256Digest { SHA256Digest(count: Array(data).count) }
}

public struct SHA256Digest: Sendable {
    public let count: Int
}

public enum Insecure {
    public struct MD5: Sendable {
        public init() {}
    }
}

public struct SymmetricKey: Sendable {
    public let bitCount: Int

    public init(bitCount: Int) { self.bitCount = bitCount }
}
