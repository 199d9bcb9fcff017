public import AlcedoCore
package import FoundationEssentials

/// The decoder of `CodecRegistry.Entry.jpeg`.
///
/// Damage is reported where libjpeg detects it: an invalid code, data that is too long or too short for its scan, and
/// a restart marker out of order. One wrong bit can also change pixels undetected, because Huffman codes have no
/// checksum. While many bytes are available, libjpeg uses another Huffman decoder, which reads invalid codes as zero.
/// Source: ITU-T T.81; Adobe technical note 5116 for the inverted ink of CMYK.
package struct JPEGDecoder: ImageDecoding {
    /// Creates a stateless decoder.
    package init() {}

    package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        try OpenedJPEG(data, limits: limits)
    }

    package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(JPEGDecodingState(options: options))
    }
}

/// A JPEG whose header libjpeg has read.
final class OpenedJPEG: FileReading {
    let file: OpenedFile<JPEGReader>
    let header: ImageHeader

    init(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) {
        file = try OpenedFile(data, of: "JPEG", limits: limits) { bytes, limits throws(ImageDecodingError) in
            try JPEGReader(bytes, limits: limits)
        }
        header = try file.withFile { reader, _ throws(ImageDecodingError) in
            guard let info = reader.info else { throw ImageDecodingError(.corrupt, "JPEG: the header is missing") }
            return ImageHeader(info)
        }
    }

    func info() throws(ImageDecodingError) -> ImageInfo {
        try file.withFile { reader, _ throws(ImageDecodingError) in reader.properties(keepsMetadata: true) }
    }

    /// Returns the number of bytes of the output in RGBA8, plus those of a second buffer for reorienting and of the
    /// coefficients of an image in several scans. A gain map that is applied, and the HDR image, are added.
    func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try file.withFile { reader, bytes throws(ImageDecodingError) in
            guard let map = try JPEGGainMap.find(reader, bytes, options).map else {
                return try reader.byteCount(options)
            }
            return try map.byteCount(reader, options)
        }
    }

    func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try file.takeFile(options.limits) { reader, bytes throws(ImageDecodingError) in
            try Self.decode(reader, bytes, options)
        }
    }

    /// Decodes the image, and applies a gain map if the options request it.
    private static func decode(
        _ reader: JPEGReader, _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> DecodedImage {
        let (map, damage) = try gainMap(reader, bytes, options)
        guard let map else {
            var image = try JPEGPartialImage.decode(reader, options)
            image.damage = .worst(image.damage, damage)
            return image
        }
        return try map.applied(to: JPEGPartialImage.decode(reader, options.forGainMap), options)
    }

    /// Returns the decoded gain map, or the damage of one that cannot be used.
    private static func gainMap(
        _ reader: JPEGReader, _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> (map: DecodedGainMap?, damage: ImageDamage?) {
        let (map, damage) = try JPEGGainMap.find(reader, bytes, options)
        guard let map else { return (nil, damage) }
        return try map.decode(options.limits)
    }

    /// Sends rows as they are decoded. An image in one scan needs O(*w*) memory. An image in several scans needs memory
    /// for all coefficients, about two bytes per sample. An image that must be reoriented is decoded as a whole first.
    func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
        try file.takeFileForRows(options.limits) { reader, bytes in
            guard !options.appliesOrientation || header.orientation == .up else {
                return try Self.decode(reader, bytes, options.forRows).sendRows(to: consumer)
            }
            let (map, damage) = try Self.gainMap(reader, bytes, options)
            guard let map else { return try ImageDamage.worst(reader.sendRows(options.forRows, to: consumer), damage) }
            return try reader.sendRows(options.forRows.forGainMap, to: GainMapRows(map, next: consumer))
        }
    }
}

extension CodecRegistry.Entry {
    /// The JPEG codec, based on libjpeg-turbo. It decodes baseline and progressive files, Huffman and arithmetic
    /// coding, and gray, YCbCr, RGB, CMYK and YCCK. The format is recognized by its start-of-image marker and the first
    /// byte of the next marker. From a quality of 0.9, the registry's encoder keeps chrominance at full resolution.
    ///
    /// ```swift
    /// let image = try CodecRegistry([.jpeg]).decode(data)
    /// ```
    ///
    /// A complete image is opaque RGBA8, or gray8 for a gray file on request. Decoding uses the accurate integer DCT
    /// and smooth upsampling, which are libjpeg-turbo's defaults. With a target size, the DCT scales to an eighth, a
    /// quarter or a half if the result still reaches the target. The full-size pixels are then never in memory. For a
    /// caller that filters the result, text, line art and stripes are reduced from the full size, which takes two to
    /// three times as long; photos are not. All
    /// coefficients of an image in several scans are in memory, about two bytes per sample.
    ///
    /// The kinds of ``/AlcedoCore/DamageTolerance`` mean:
    ///
    /// - `harmless`: Nothing is missing but the end mark, something else follows the last block of pixels, other bytes
    ///   lie between the segments of the header, or metadata or a requested gain map cannot be used.
    /// - `wrongPixels`: libjpeg found wrong data and continued, with gray blocks where it had no data: up to a
    ///   sixteenth of the blocks at the end of the image. An error in a later scan of a progressive file ends the image
    ///   before that scan.
    /// - `missingPixels`: The file ends before the last block of pixels, or more blocks have no data although there is
    ///   an end mark, as in a file that declares too great a height. A partial image has the rows above; missing rows
    ///   are transparent in RGBA8 and black in gray8. If a file with several scans ends after the first one, it is the
    ///   whole image at a lower quality.
    ///
    /// A progressive file with an end mark may lack scans after the first. The properties of extended XMP are joined
    /// with those of the packet.
    public static var jpeg: Self {
        Self(
            format: .jpeg, decoder: JPEGDecoder(), signatures: [[0xFF, 0xD8, 0xFF]],
            makeEncoder: { quality in
                JPEGEncoder(quality: Int((quality * 100).rounded()))
            })
    }
}
