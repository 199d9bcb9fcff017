import FoundationEssentials

/// What is kept beside the bytes of an image, because they do not say it.
///
/// Ten bytes: 0xA1, flags (bit 0: the original's bytes), the scale's bit pattern, little-endian. None at all for the
/// usual case, so that entries are the same as those of others. What is not understood is taken for none.
struct ImageCacheNotes: Equatable {
    private static let mark: UInt8 = 0xA1

    /// Pixels for each point.
    var scale: Double
    var isOriginal: Bool

    init(scale: Double = 1, isOriginal: Bool = false) {
        self.scale = scale
        self.isOriginal = isOriginal
    }

    init(_ data: Data) {
        self.init()
        let bytes = Array(data)
        guard bytes.count == 10, bytes[0] == Self.mark else { return }
        isOriginal = bytes[1] & 1 == 1
        let scale = Double(bitPattern: bytes[2...].reversed().reduce(0) { $0 << 8 | UInt64($1) })
        if scale.isFinite, scale > 0 { self.scale = scale }
    }

    var data: Data {
        guard self != ImageCacheNotes() else { return Data() }
        let bits = scale.bitPattern
        return Data([Self.mark, isOriginal ? 1 : 0] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) })
    }
}
