public import AlcedoCore
private import CJPEGShim
public import FoundationEssentials

/// Encodes images as JPEG, by libjpeg-turbo.
///
/// gray8 is written as gray, everything else as YCbCr of 8 bits; 16-bit samples lose their low byte. JPEG has no alpha:
/// transparent pixels are laid over ``background``. The colour profile is kept when it is made for such colours. The
/// pixels stay as they lie; their orientation is written as EXIF.
public struct JPEGEncoder: ImageEncoding {
    /// 1 (smallest) to 100 (best), on the scale of the Independent JPEG Group. Values outside count as the nearest.
    public var quality: Int
    /// How many chrominance samples are kept. Default: one for four pixels.
    public var subsampling: JPEGSubsampling
    /// Whether the image comes in several scans, each finer than the one before. Rows are then kept as coefficients until
    /// the end, two bytes a sample.
    public var isProgressive: Bool
    /// Whether Huffman tables are made for this image: some percent smaller, and kept as coefficients until the end.
    /// A progressive image always has its own.
    public var optimizesHuffman: Bool
    /// What shows through transparent pixels.
    public var background: OpaqueColor

    /// By default quality 85, baseline, one chrominance sample for four pixels, on white.
    public init(
        quality: Int = 85, subsampling: JPEGSubsampling = .both, isProgressive: Bool = false,
        optimizesHuffman: Bool = false, background: OpaqueColor = .white
    ) {
        self.quality = quality
        self.subsampling = subsampling
        self.isProgressive = isProgressive
        self.optimizesHuffman = optimizesHuffman
        self.background = background
    }

    public var format: ImageFormat { .jpeg }

    /// Stills that are marked as opaque, or have no alpha samples.
    public func holds(_ image: DecodedImage) -> Bool {
        !image.isAnimated && (image.pixels.alphaMode == .opaque || [.rgbx8, .gray8].contains(image.pixels.format))
    }

    /// Encodes the image; of an animation the first frame.
    ///
    /// - Throws: ``ImageEncodingError``: `unsupportedImage` for a side of more than 65,500 pixels.
    public func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        var data = Data()
        do {
            let encoder = makeRowEncoder { bytes in bytes.withUnsafeBytes { data.append(contentsOf: $0) } }
            try image.sendRows(to: encoder)
        } catch {
            throw error as? ImageEncodingError ?? ImageEncodingError(.failed, "JPEG: \(error)")
        }
        return data
    }

    /// Memory is O(*w*), unless the image is progressive or its Huffman tables are optimised.
    public func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        JPEGRowEncoder(settings, background: background, output: output)
    }

    private var settings: alcedo_jpeg_settings {
        var settings = alcedo_jpeg_settings()
        settings.quality = Int32(min(max(quality, 1), 100))
        (settings.horizontal_subsampling, settings.vertical_subsampling) = subsampling.factors
        settings.is_progressive = isProgressive ? 1 : 0
        settings.optimizes = optimizesHuffman ? 1 : 0
        return settings
    }
}
