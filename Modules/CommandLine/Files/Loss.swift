import Alcedo

/// What an image has and a file that was made of it has not.
enum Loss: String, Sendable, CaseIterable {
    case animation, alpha, depth, profile, exif, xmp

    /// For people.
    var words: String {
        switch self {
        case .animation: "animation"
        case .alpha: "transparency"
        case .depth: "16 bits"
        case .profile: "colour profile"
        case .exif: "EXIF"
        case .xmp: "XMP"
        }
    }

    /// Whether nearly every photograph loses it, which is then told in sum only.
    var isCommon: Bool { self == .exif || self == .xmp }

    /// - Parameters:
    ///   - before: The file that it was made of.
    ///   - image: What was encoded.
    ///   - after: The file that was made.
    static func between(_ before: ImageInfo, _ image: DecodedImage, _ after: ImageInfo) -> [Loss] {
        let (old, new) = (before.metadata, after.metadata)
        return allCases.filter { loss in
            switch loss {
            case .animation: before.frameCount > 1 && after.frameCount == 1
            // Files of the other formats say that they have none when nothing is transparent.
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
    /// Whether the pixels have alpha samples that count.
    var mayBeTransparent: Bool { alphaMode != .opaque && (format == .rgba8 || format == .rgba16) }

    /// Whether a pixel is not opaque. O(*w* × *h*).
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
