import Alcedo

/// A property of an image that its written file does not preserve.
typealias Loss = ConversionLoss

extension ConversionLoss {
    /// The name of the property in messages.
    var words: String {
        switch self {
        case .animation: "animation"
        case .alpha: "transparency"
        case .depth: "16 bits"
        case .profile: "color profile"
        case .exif: "EXIF"
        case .xmp: "XMP"
        case .iptc: "IPTC"
        case .text: "text"
        case .resolution: "resolution"
        }
    }

    /// Whether most photographs lose the property. In text output, only the totals report such losses.
    var isCommon: Bool { [.exif, .xmp, .iptc, .text, .resolution].contains(self) }

    /// Returns the properties of the original file that the written file of an image lacks.
    ///
    /// - Parameters:
    ///   - before: The properties of the original file.
    ///   - image: The image that was encoded.
    ///   - after: The properties of the written file.
    static func between(_ before: ImageInfo, _ image: DecodedImage, _ after: ImageInfo) -> [ConversionLoss] {
        between(before, after, losesAlpha: image.pixels.losesAlpha(in: after.format))
    }
}

extension PixelBuffer {
    /// Whether at least one pixel is not opaque.
    ///
    /// - Complexity: O(*w* × *h*)
    var hasTransparency: Bool { losesAlpha(in: .jpeg) }

    /// Whether the pixels have transparency that a format does not hold.
    fileprivate func losesAlpha(in file: ImageFormat) -> Bool {
        hasAlphaSamples && (0..<height).contains { ConversionLoss.losesAlpha(of: row($0), format, in: file) }
    }
}
