public import AlcedoCore
import FoundationEssentials

/// The result of ``ImageCache/image(forKey:processorIdentifier:)``: an image and the layer that had it.
public struct ImageCacheHit: Sendable {
    /// The processed image, or the original if ``needsProcessing`` is true.
    public var image: DecodedImage
    /// The layer that contained the image before this read stored it in memory: `memory` or `disk`.
    public var layer: ImageResponse.Layer
    /// Whether the image is the original, whose bytes the serializer stored instead of the processed image. The caller
    /// must process it again. Such an image is not stored in memory.
    public var needsProcessing: Bool

    /// Creates a hit, by default of an image that needs no processing.
    package init(_ image: DecodedImage, _ layer: ImageResponse.Layer, needsProcessing: Bool = false) {
        self.image = image
        self.layer = layer
        self.needsProcessing = needsProcessing
    }
}

/// The metadata of an image that its encoded bytes do not contain.
///
/// The format is ten bytes: 0xA1, flags (bit 0 is set for the original's bytes), and the bit pattern of the scale,
/// little-endian. Default values are stored as empty metadata, which entries written by other caches also have. Any
/// other metadata is read as the default values.
struct ImageCacheMetadata: Equatable {
    private static let signature: UInt8 = 0xA1

    /// The number of pixels per point.
    var scale: Double
    var isOriginal: Bool

    init(scale: Double = 1, isOriginal: Bool = false) {
        self.scale = scale
        self.isOriginal = isOriginal
    }

    init(_ data: Data) {
        self.init()
        let bytes = Array(data)
        guard bytes.count == 10, bytes[0] == Self.signature else { return }
        isOriginal = bytes[1] & 1 == 1
        let scale = Double(bitPattern: bytes[2...].reversed().reduce(0) { $0 << 8 | UInt64($1) })
        if scale.isFinite, scale > 0 { self.scale = scale }
    }

    var data: Data {
        guard self != ImageCacheMetadata() else { return Data() }
        let bits = scale.bitPattern
        return Data([Self.signature, isOriginal ? 1 : 0] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) })
    }
}
