/// A converter of pixels from the color space of their ICC profile to a standard color space.
///
/// Several threads may call a converter, and the conversions that it returns, at the same time. Profiles are untrusted:
/// no bytes may make a converter crash, hang, read outside the profile or allocate without bound.
public protocol ColorConverting: Sendable {
    /// Returns the conversion of rows with these properties, or nil when their samples are already in the color space.
    ///
    /// The samples have the color space of ``PixelRowHeader/colorProfile``, and are in sRGB without a profile. In a row
    /// of RGBA pixels with a gray profile, red, green and blue are equal. ``PixelRowHeader/hasInks`` marks inks.
    ///
    /// - Parameters:
    ///   - header: The properties of the rows.
    ///   - space: The color space of the result; never ``OutputColorSpace/embedded``.
    /// - Throws: ``ColorConversionError`` when the profile is unusable. Callers then treat the samples as sRGB.
    func conversion(
        of header: PixelRowHeader, to space: OutputColorSpace
    ) throws(ColorConversionError) -> RowConversion?
}

/// A conversion of one row in place. The row has ``PixelRowHeader/bytesPerRow`` bytes.
public typealias RowConversion = @Sendable (_ row: UnsafeMutableRawBufferPointer) -> Void

extension ColorConverting {
    /// Returns the image in a color space, without an ICC profile for sRGB.
    ///
    /// Frames of an animation are converted when they are requested. An image that is already in the color space keeps
    /// its memory.
    ///
    /// ```swift
    /// let image = try LittleCMSColorConverter().converted(CodecRegistry.standard.decode(data))
    /// ```
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - space: The color space. Default: sRGB.
    /// - Throws: ``ColorConversionError`` when the ICC profile of the image is unusable.
    /// - Complexity: O(*w* × *h*).
    public func converted(
        _ image: DecodedImage, to space: OutputColorSpace = .sRGB
    ) throws(ColorConversionError) -> DecodedImage {
        let plan = ColorConversionPlan(image.rowHeader, to: space, by: self)
        if let error = plan.error { throw error }
        return plan.applied(to: image, by: self, space)
    }
}

/// The conversion of the rows of one image, and the properties of its result.
///
/// A converter is injected into a pipeline, which calls it between decoding and processing. Decoders therefore return
/// samples as the file has them. This includes the inks of CMYK files, when ``DecodingOptions/keepsInks`` is set:
///
/// - Inks use the layout of `.rgba8` and are marked by ``PixelRowHeader/hasInks``. A further ``PixelFormat`` would
///   reach the `switch` of each processor, encoder and view, although no ink remains after the conversion.
/// - Only callers that convert set the option, so that other callers never receive inks. Without the option, and for
///   files without an ink profile, decoders use a formula.
/// - The flag is explicit and not derived from the profile, because a damaged RGB file can contain an ink profile.
/// - Decoders do not call the converter themselves. Errors, reports and the order of stages are the same for inks and
///   other colors, and a decoder in another process receives a flag instead of a converter.
package struct ColorConversionPlan: Sendable {
    /// The properties of the converted rows.
    package let header: PixelRowHeader
    /// The conversion, or nil when the samples stay unchanged.
    package let convert: RowConversion?
    /// The error of a profile that was ignored, or nil.
    package let error: ColorConversionError?

    /// Plans the conversion. The samples of an unusable profile are treated as sRGB, and its inks are converted by a
    /// formula.
    ///
    /// - Parameters:
    ///   - header: The properties of the rows.
    ///   - space: The color space of the result.
    ///   - range: The dynamic range of the result. With `.high`, rows in PQ and HLG are not converted. Default:
    ///     `.standard`.
    ///   - converter: The converter.
    package init(
        _ header: PixelRowHeader, to space: OutputColorSpace, range: DynamicRange = .standard,
        by converter: any ColorConverting
    ) {
        var result = header
        let isKept = space == .embedded || range == .high && header.hasHighDynamicRange
        guard !isKept, header.colorProfile != nil || header.hasInks || space != .sRGB else {
            self.init(header: header, convert: nil, error: nil)
            return
        }
        result.hasInks = false
        // The gray samples of both color spaces are equal, and an RGB profile does not describe gray rows.
        result.colorProfile = header.format.isGray ? nil : space.colorProfile
        do throws(ColorConversionError) {
            self.init(header: result, convert: try converter.conversion(of: header, to: space), error: nil)
        } catch {
            var fallback = header
            fallback.colorProfile = nil
            fallback.hasInks = false
            let rest = try? converter.conversion(of: fallback, to: space)
            let convert = header.hasInks ? InkFormula.conversion(header.alphaMode, then: rest) : rest
            self.init(header: result, convert: convert, error: error)
        }
    }

    private init(header: PixelRowHeader, convert: RowConversion?, error: ColorConversionError?) {
        self.header = header
        self.convert = convert
        self.error = error
    }

    /// Returns the converted image.
    package func applied(
        to image: DecodedImage, by converter: any ColorConverting, _ space: OutputColorSpace
    ) -> DecodedImage {
        var result = image
        apply(to: &result, by: converter, space)
        return result
    }

    /// Converts an image. Copies its pixels only when another image shares them.
    package func apply(to image: inout DecodedImage, by converter: any ColorConverting, _ space: OutputColorSpace) {
        let profile = image.colorProfile
        image.colorProfile = header.colorProfile
        image.hasInks = header.hasInks
        guard let convert else { return }
        image.pixels.convertRows(convert)
        image.frames = image.frames.map {
            ColorConvertedFrames(source: $0, profile: profile, space: space, converter: converter)
        }
    }
}

extension PixelRowHeader {
    /// Whether the profile of the rows declares PQ or HLG.
    package var hasHighDynamicRange: Bool { ColorDescription(highDynamicRangeOf: colorProfile) != nil }
}

/// The conversion of inks to red, green and blue without a profile: each ink absorbs its color.
package enum InkFormula {
    /// Returns the conversion of rows of C, M, Y, K, of which 255 means no ink. In rows that are not opaque, pixels
    /// whose bytes are all zero are missing pixels of a partial image, and stay transparent.
    static func conversion(_ alphaMode: AlphaMode, then next: RowConversion?) -> RowConversion {
        { row in
            for pixel in stride(from: 0, to: row.count - 3, by: 4) {
                let black = Int(row[pixel + 3])
                if alphaMode != .opaque, black == 0, row[pixel] == 0, row[pixel + 1] == 0, row[pixel + 2] == 0 {
                    continue
                }
                for ink in pixel..<pixel + 3 {
                    row[ink] = UInt8(truncatingIfNeeded: (Int(row[ink]) * black + 127) / 255)
                }
                row[pixel + 3] = 255
            }
            next?(row)
        }
    }
}
