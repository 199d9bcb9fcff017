import AlcedoCore
import FoundationEssentials

/// The chunks that declare the color space of an image by numbers. Damaged and invalid chunks count as absent.
///
/// Source: W3C PNG specification, third edition, sections 4.3 and 11.3.2.
struct PNGColorSpace {
    private let outline: PNGOutline
    private let bytes: PNGBytes

    init(_ outline: PNGOutline, in bytes: PNGBytes) {
        self.outline = outline
        self.bytes = bytes
    }

    /// Returns the color space that takes precedence over the ICC profile, or nil when the profile counts.
    ///
    /// The order is `cICP`, `iCCP`, `sRGB`, then `gAMA` with `cHRM`. Without any of them, samples are in sRGB. `cHRM`
    /// counts only together with `gAMA`. A `gAMA` of 45,455 without other primary colors than those of sRGB means sRGB,
    /// because writers use it to approximate sRGB.
    ///
    /// - Parameters:
    ///   - profile: The ICC profile, or nil. It counts only if its color space is that of the image.
    ///   - isGray: Whether the image is gray.
    func description(profile: Data?, isGray: Bool) -> ColorDescription? {
        if let description = codePoints { return description }
        if let profile, ICCProfile.describes(gray: isGray, profile) { return nil }
        let isDeclared = body(PNGChunk.Name.srgb, byteCount: 1) != nil
        // Without a profile, no description is needed for sRGB.
        return (isDeclared ? nil : gamma) ?? (profile == nil ? nil : .sRGB)
    }

    /// The color space of the `cICP` chunk. RGB samples require the matrix 0.
    private var codePoints: ColorDescription? {
        guard let body = body(PNGChunk.Name.cicp, byteCount: 4), body[2] == 0, body[3] <= 1 else { return nil }
        return ColorDescription(primaries: body[0], transfer: body[1], isFullRange: body[3] == 1)
    }

    /// The color space of the `gAMA` and `cHRM` chunks.
    private var gamma: ColorDescription? {
        guard let body = body(PNGChunk.Name.gama, byteCount: 4) else { return nil }
        let gamma = body.bigEndian(at: 0)
        // A display gamma from 0.1 to 10. Other values are mistakes.
        guard (10_000...1_000_000).contains(gamma) else { return nil }
        let transfer = TransferFunction.power(100_000 / Double(gamma))
        let description = ColorDescription(chromaticities ?? .bt709, transfer)
        let isApproximation = abs(gamma - 45_455) <= 455
        return isApproximation && description.primaries.isBT709 ? .sRGB : description
    }

    private var chromaticities: ColorPrimaries? {
        guard let body = body(PNGChunk.Name.chrm, byteCount: 32) else { return nil }
        let values = stride(from: 0, to: 32, by: 4).map { Double(body.bigEndian(at: $0)) / 100_000 }
        let points = stride(from: 0, to: 8, by: 2).map {
            ColorPrimaries.Chromaticity(values[$0], values[$0 + 1])
        }
        let primaries = ColorPrimaries(red: points[1], green: points[2], blue: points[3], white: points[0])
        return primaries.isValid ? primaries : nil
    }

    private func body(_ name: UInt32, byteCount: Int) -> PNGBytes? {
        guard let chunk = outline.colorSpace[name], chunk.body.count == byteCount, chunk.isIntact(in: bytes) else {
            return nil
        }
        return bytes.part(chunk.body)
    }
}
