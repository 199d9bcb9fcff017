import Alcedo

/// A property of an image that its written file does not preserve.
enum Loss: String, Sendable, CaseIterable {
    case animation, alpha, depth, profile, exif, xmp

    /// The name of the property in messages.
    var words: String {
        switch self {
        case .animation: "animation"
        case .alpha: "transparency"
        case .depth: "16 bits"
        case .profile: "color profile"
        case .exif: "EXIF"
        case .xmp: "XMP"
        }
    }

    /// Whether most photographs lose the property. In text output, only the totals report such losses.
    var isCommon: Bool { self == .exif || self == .xmp }

    /// Returns the properties of the original file that the written file lacks. EXIF and XMP data that changed counts
    /// as lost.
    ///
    /// - Parameters:
    ///   - before: The properties of the original file.
    ///   - image: The image that was encoded.
    ///   - after: The properties of the written file.
    static func between(_ before: ImageInfo, _ image: DecodedImage, _ after: ImageInfo) -> [Loss] {
        let (old, new) = (before.metadata, after.metadata)
        return allCases.filter { loss in
            switch loss {
            case .animation: before.frameCount > 1 && after.frameCount == 1
            // Encoders of the other formats omit the alpha channel of an opaque image, which is not a loss.
            case .alpha: after.format == .jpeg && image.pixels.hasTransparency
            case .depth: before.bitDepth > 8 && after.bitDepth <= 8
            case .profile: old.colorProfile != nil && new.colorProfile == nil
            case .exif: old.exif != nil && new.exif != old.exif
            case .xmp: old.xmp != nil && new.xmp != old.xmp
            }
        }
    }
}

extension PixelBuffer {
    /// Whether the format and the alpha mode allow transparent pixels.
    var mayBeTransparent: Bool { alphaMode != .opaque && (format == .rgba8 || format == .rgba16) }

    /// Whether at least one pixel is not opaque.
    ///
    /// - Complexity: O(*w* × *h*)
    var hasTransparency: Bool {
        guard mayBeTransparent else { return false }
        let sampleBytes = format.bytesPerPixel / 4
        return (0..<height).contains { y in
            row(y).withUnsafeBytes { row in
                stride(from: 3 * sampleBytes, to: row.count, by: 4 * sampleBytes).contains { alpha in
                    (alpha..<alpha + sampleBytes).contains { row[$0] != 255 }
                }
            }
        }
    }
}
