public import AlcedoCore
import CLittleCMSShim
import FoundationEssentials

/// A color converter on Little CMS.
///
/// ```swift
/// let image = try LittleCMSColorConverter().converted(CodecRegistry.standard.decode(data))
/// ```
///
/// The rendering is relative colorimetric, clipped to the target. PQ and HLG are tone-mapped to SDR. A profile whose
/// conversion would change no sample by more than one 8-bit level counts as sRGB, and its samples are not converted. A
/// profile of another color space than the samples is an error. The page of the module has the supported profiles.
///
/// A conversion by a matrix takes a few nanoseconds per pixel, one by tables about ten, and one of HDR up to 30. The
/// first use of a profile with tables takes about ten milliseconds, and that of HDR with 16 bits about twenty. All
/// converters of the process share the most recent conversions.
public struct LittleCMSColorConverter: ColorConverting {
    /// Whether the darkest color of the profile becomes black.
    private let compensatesBlackPoint: Bool

    /// Creates a converter.
    ///
    /// - Parameter compensatesBlackPoint: Whether the darkest color of the profile becomes black. Default: true.
    public init(compensatesBlackPoint: Bool = true) { self.compensatesBlackPoint = compensatesBlackPoint }

    /// Returns the conversion of rows, or nil when they are already in the color space.
    ///
    /// - Throws: ``/AlcedoCore/ColorConversionError``.
    public func conversion(
        of header: PixelRowHeader, to space: OutputColorSpace
    ) throws(ColorConversionError) -> RowConversion? {
        guard space != .embedded else { return nil }
        let key = ColorTransform.Key(
            profile: header.colorProfile, space: space, depth: header.format.isDeep ? 16 : 8,
            compensatesBlackPoint: compensatesBlackPoint)
        let transform = try ColorTransformCache.shared.transform(key)
        guard (transform.source == ALCEDO_COLOR_CMYK) == header.hasInks, !header.hasInks || header.format == .rgba8
        else {
            let samples = header.hasInks ? "inks" : "gray or RGB samples"
            throw ColorConversionError(
                .unsupportedProfile, "color: the image has \(samples), which its profile does not describe")
        }
        return transform.isIdentity ? nil : transform.conversion(of: header)
    }
}

extension ColorTransform {
    /// Returns the conversion of rows with these properties.
    func conversion(of header: PixelRowHeader) -> RowConversion {
        let format = header.format
        if format == .gray8 { return { self.convertGray($0) } }
        if format == .gray16 { return { self.convertDeepGray($0) } }
        if header.hasInks, header.alphaMode != .opaque { return { self.convertExistingInks($0) } }
        guard header.alphaMode == .premultiplied else {
            return { self.convert($0, pixelCount: $0.count / format.bytesPerPixel) }
        }
        return { row in
            AlphaArithmetic.unpremultiply(row, format)
            self.convert(row, pixelCount: row.count / format.bytesPerPixel)
            AlphaArithmetic.premultiply(row, format)
        }
    }

    /// Converts the inks of a partial image to opaque pixels. Pixels whose bytes are all zero are missing pixels and
    /// stay transparent. Printed images have no such pixels, because no paper holds all inks in full.
    private func convertExistingInks(_ row: UnsafeMutableRawBufferPointer) {
        let pixels = row.assumingMemoryBound(to: UInt32.self)
        var start = 0
        while start < pixels.count {
            guard pixels[start] != 0 else {
                start += 1
                continue
            }
            let end = pixels[start...].firstIndex(of: 0) ?? pixels.count
            convert(UnsafeMutableRawBufferPointer(rebasing: row[4 * start..<4 * end]), pixelCount: end - start)
            start = end
        }
    }
}
