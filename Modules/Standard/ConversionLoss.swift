package import AlcedoCore
import FoundationEssentials

/// A property of an image that its written file does not preserve.
public enum ConversionLoss: String, Sendable, CaseIterable {
    /// The file has the first frame of an animation only.
    case animation
    /// Pixels were transparent, or in GIF partly transparent.
    case alpha
    /// Samples had more than 8 bits, and more than those of the file.
    case depth
    /// The color profile was used to convert the pixels, or removed.
    case profile
    /// EXIF data, or a part of it, apart from what changes with the pixels.
    case exif
    /// XMP data, or a part of it.
    case xmp
    /// IPTC data, or a part of it.
    case iptc
    /// Texts, such as a title or a description.
    case text
    /// The resolution in pixels per inch.
    case resolution

    /// Returns the properties of the original file that the written file lacks. EXIF, XMP and IPTC that changed count
    /// as lost, except for what changes with the pixels: orientation, size, resolution, color space and preview image.
    ///
    /// - Parameters:
    ///   - before: The properties of the original file.
    ///   - after: The properties of the written file.
    ///   - losesAlpha: Whether the encoded pixels have transparency that the format does not hold.
    package static func between(_ before: ImageInfo, _ after: ImageInfo, losesAlpha: Bool) -> [ConversionLoss] {
        let (old, new) = (before.metadata, after.metadata)
        return allCases.filter { loss in
            switch loss {
            case .animation: before.frameCount > 1 && after.frameCount == 1
            case .alpha: losesAlpha
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

    /// Returns whether a row has alpha that a format does not hold. Encoders of formats other than JPEG and GIF keep
    /// all of it, or omit the alpha channel of an opaque image, which is not a loss.
    ///
    /// - Complexity: O(*w*)
    package static func losesAlpha(of row: RawSpan, _ format: PixelFormat, in file: ImageFormat) -> Bool {
        guard format.hasAlpha, file == .jpeg || file == .gif else { return false }
        let sampleBytes = format.bytesPerPixel / 4
        return row.withUnsafeBytes { row in
            stride(from: 3 * sampleBytes, to: row.count, by: 4 * sampleBytes).contains { alpha in
                (alpha..<alpha + sampleBytes).contains { row[$0] != 255 && (file == .jpeg || row[$0] != 0) }
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
        // TIFF stores the values in other places.
        guard let thumbnail else { return written == exif || ImageMetadata.hasValues(of: exif, in: written) }
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
