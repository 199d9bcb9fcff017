public import AlcedoCore
package import FoundationEssentials

/// The decoder of `CodecRegistry.Entry.png`, whose comment describes the behavior.
///
/// When a still image seems damaged after the header, decoding reads the file again to determine the final error, if
/// any, and a third time if the result is an image. Source: W3C PNG specification, third edition.
package struct PNGDecoder: ImageDecoding {
    /// Creates a stateless decoder.
    package init() {}

    package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        try OpenedPNG(data, limits: limits)
    }

    package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(PNGIncrementalState(options: options))
    }
}

extension CodecRegistry.Entry {
    /// The PNG codec, based on libpng. It decodes all color types, bit depths and interlacing, and animated PNG. PNG is
    /// recognized by its eight-byte signature.
    ///
    /// Images are decoded to RGBA8: palettes, gray levels and `tRNS` are expanded, and 16-bit samples lose their low
    /// byte. If the options request it, gray images without transparency are decoded to gray8 and 16-bit files to
    /// rgba16. Animations, and gray partial images that are interlaced or miss rows, are always RGBA8. Gamma is not
    /// applied. The orientation is read from EXIF, or from XMP when there is no EXIF.
    ///
    /// When a target size makes the image smaller or when rows are requested, decoding needs O(*w*) memory in addition
    /// to the result, even for damaged files. Interlaced images, the frames of animations and incremental decoding need
    /// full-size buffers. An image that must be reoriented needs a second buffer, and its requested rows are collected
    /// in memory first.
    ///
    /// ```swift
    /// let png = CodecRegistry([.png])
    /// let image = try png.decode(data, options: DecodingOptions(target: TargetSize(width: 320, height: 320)))
    /// ```
    public static var png: Self {
        Self(
            format: .png, decoder: PNGDecoder(),
            signatures: [[0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]],
            makeEncoder: { _ in PNGEncoder() })
    }
}
