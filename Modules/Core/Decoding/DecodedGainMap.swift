import AlcedoRuntime
package import FoundationEssentials

/// The samples and the numbers of a gain map that a decoder applies to its image.
package struct DecodedGainMap {
    /// The samples: gray8 or RGBA8.
    let pixels: PixelBuffer
    let metadata: GainMapMetadata
    /// The profile of the HDR image.
    let colorProfile: Data

    package init(pixels: PixelBuffer, metadata: GainMapMetadata, colorProfile: Data) {
        (self.pixels, self.metadata, self.colorProfile) = (pixels, metadata, colorProfile)
    }

    /// Calls `body`. Makes harmless damage of an error that only the map has, so that the image is shown in SDR.
    ///
    /// - Parameter format: The name of the format, for the message.
    /// - Throws: ``ImageDecodingError`` `outOfMemory`, and `decoderUnavailable` after a cancellation.
    package static func ignoringDamage<Map>(
        of format: String, _ body: () throws(ImageDecodingError) -> Map?
    ) throws(ImageDecodingError) -> (map: Map?, damage: ImageDamage?) {
        do throws(ImageDecodingError) { return (try body(), nil) } catch {
            guard error.code != .outOfMemory, error.code != .decoderUnavailable else { throw error }
            let message = "\(format): the gain map is ignored: \(error.message)"
            return (nil, ImageDamage(.harmless, ImageDecodingError(error.code, message)))
        }
    }

    /// Returns the profile of the HDR image: PQ, with the primary colors of the image.
    ///
    /// - Parameters:
    ///   - profile: The profile of the image; nil for sRGB.
    ///   - metadata: The numbers of the map.
    ///   - otherPrimaries: The code point of the primary colors of the HDR image that the map has been made for, or
    ///     nil. It counts when the gains are not those of the color space of the image.
    /// - Throws: ``ImageDecodingError`` `unsupportedVariant` for a color space to which gains cannot be applied.
    package static func colorProfile(
        of profile: Data?, _ metadata: GainMapMetadata, otherPrimaries: UInt8?
    ) throws(ImageDecodingError) -> Data {
        // Gains of another space could be used only with the colors of that space.
        guard let primaries = profile.map(ICCProfile.primariesWithCurveOfSRGB) ?? 1,
            metadata.usesBaseColorSpace || otherPrimaries == primaries,
            let profile = ColorDescription(primaries: primaries, transfer: 16)?.profile(isGray: false)
        else {
            throw ImageDecodingError(
                .unsupportedVariant, "the gain map is that of an image in another color space than sRGB and Display P3")
        }
        return profile
    }

    /// Throws `exceedsLimit` when an HDR image, or what decoding it holds, exceeds the limits.
    package static func check(
        _ size: PixelSize, byteCount: Int, _ limits: DecodingLimits
    ) throws(ImageDecodingError) {
        try limits.check(size, format: .rgba16)
        guard byteCount <= limits.maximumByteCount else {
            throw ImageDecodingError(
                .exceedsLimit,
                "decoding the image in HDR needs \(byteCount.byteCountText) of memory; the limit is "
                    + "\(limits.maximumByteCount.byteCountText) (DecodingLimits.maximumByteCount)")
        }
    }

    /// Returns the number of bytes that applying a map holds: the HDR image, or one row if rows are passed on, the
    /// upright image if it must be turned, and tables. The map and the SDR image are not included.
    ///
    /// - Parameters:
    ///   - size: The size of the image as stored.
    ///   - orientation: The orientation of the stored rows.
    ///   - options: The options for the HDR image.
    package static func byteCount(
        of size: PixelSize, _ orientation: ImageOrientation, _ options: DecodingOptions
    ) -> Int {
        let isRotated = options.appliesOrientation && orientation != .up
        let height = options.passesRows && !isRotated ? 1 : size.height
        let upright = orientation.swapsSides ? size.transposed : size
        let rows = PixelBuffer.byteCount(size: PixelSize(width: size.width, height: height), format: .rgba16) ?? .max
        let turned = isRotated ? PixelBuffer.byteCount(size: upright, format: .rgba16) ?? .max : 0
        return rows.addingClamped(turned).addingClamped(1 << 19 + 32 * min(size.width, 1 << 40))
    }

    /// Returns the HDR image of an image that was decoded with ``DecodingOptions/forGainMap``, upright if the options
    /// request it. A partial image stays in SDR, because its missing pixels have no light.
    package func applied(
        to image: DecodedImage, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> DecodedImage {
        var result = image
        if !image.isPartial {
            let high = try PixelRowCollector.image { try image.sendRows(to: GainMapRows(self, next: $0)) }
            guard let high else { throw ImageDecodingError.noMemory(for: image.size) }
            (result.pixels, result.colorProfile) = (high.pixels, high.colorProfile)
        }
        guard options.appliesOrientation else { return result }
        result.pixels = try result.pixels.upright(from: result.orientation)
        result.orientation = .up
        return result
    }
}

extension DecodingOptions {
    /// The options for decoding the image to which a gain map is applied: in its stored order, with colors, at full
    /// size.
    package var forGainMap: DecodingOptions {
        var options = self
        options.pixelFormat = .rgba16
        options.target = nil
        options.appliesOrientation = false
        return options
    }

    /// The options for decoding a gain map itself. Damage that changes samples makes it unusable.
    package static func ofGainMap(_ limits: DecodingLimits) -> DecodingOptions {
        DecodingOptions(limits: limits, appliesOrientation: false, pixelFormat: .gray8, tolerance: .harmless)
    }
}
