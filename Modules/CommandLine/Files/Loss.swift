import Alcedo
import FoundationEssentials

/// A property of an image that its written file does not preserve.
enum Loss: String, Sendable, CaseIterable {
    case animation, alpha, depth, profile, exif, xmp, iptc, text, resolution

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

    /// Returns the properties of the original file that the written file lacks. EXIF, XMP and IPTC that changed count
    /// as lost, except for what changes with the pixels: orientation, size, resolution, color space and preview image.
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
            case .alpha:
                after.format == .jpeg && image.pixels.hasTransparency
                    || after.format == .gif && image.pixels.hasPartialTransparency
            case .depth: before.bitDepth > max(8, after.bitDepth)
            case .profile: old.colorProfile != nil && new.colorProfile == nil
            case .exif: old.exif.map { !isKept($0, in: after) } ?? false
            // A packet that cannot be parsed, or describes only the file, is not kept.
            case .xmp: old.xmp != nil && (new.xmp == nil || new.xmp != old.selected(.all).xmp)
            case .iptc: old.iptc != nil && new.iptc != old.iptc
            case .text: old.texts.contains { !new.holds($0.value, of: $0.key) }
            case .resolution: old.resolution.map { !isKept($0, of: before, in: after) } ?? false
            }
        }
    }
}

/// Returns whether a written file has the EXIF data of the original, as encoders write it with upright pixels, or that
/// with the color space of pixels that were converted to sRGB.
private func isKept(_ exif: Data, in after: ImageInfo) -> Bool {
    guard let written = after.metadata.exif else { return false }
    let thumbnail = ImageMetadata.thumbnail(in: written)
    // An encoder can have added a thumbnail of the written image.
    func isWritten(_ exif: Data) -> Bool {
        guard let thumbnail else { return written == exif }
        return ImageMetadata.exif([UInt8](exif), adding: thumbnail).map { Data($0) } == written
    }
    // The tags of the resolution can have changed, or were added in a format that has no other place for it.
    return [after.metadata.resolution, nil].contains { resolution in
        let upright = [true, false].map { holdsResolution in
            Data(
                ImageMetadata(exif: exif, resolution: resolution)
                    .writtenEXIF(.up, after.size, holdsResolution: holdsResolution))
        }
        return upright.contains { isWritten($0) || isWritten(OutputColorSpace.sRGB.written(in: $0)) }
    }
}

/// Returns whether a written file has the resolution of the original, with upright pixels.
private func isKept(_ resolution: ImageResolution, of before: ImageInfo, in after: ImageInfo) -> Bool {
    let upright = before.orientation.swapsSides ? resolution.transposed : resolution
    return after.metadata.resolution?.keeps(upright) ?? false
}

extension PixelBuffer {
    /// Whether the format and the alpha mode allow transparent pixels.
    var mayBeTransparent: Bool { alphaMode != .opaque && format.hasAlpha }

    /// Whether at least one pixel is not opaque.
    ///
    /// - Complexity: O(*w* × *h*)
    var hasTransparency: Bool { containsAlpha { $0 != 255 } }

    /// Whether at least one pixel is neither opaque nor fully transparent.
    ///
    /// - Complexity: O(*w* × *h*)
    var hasPartialTransparency: Bool { containsAlpha { $0 != 255 && $0 != 0 } }

    /// Returns whether a byte of the alpha samples satisfies a condition.
    private func containsAlpha(where condition: (UInt8) -> Bool) -> Bool {
        guard mayBeTransparent else { return false }
        let sampleBytes = format.bytesPerPixel / 4
        return (0..<height).contains { y in
            row(y).withUnsafeBytes { row in
                stride(from: 3 * sampleBytes, to: row.count, by: 4 * sampleBytes).contains { alpha in
                    (alpha..<alpha + sampleBytes).contains { condition(row[$0]) }
                }
            }
        }
    }
}
