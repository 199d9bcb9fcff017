import Alcedo
import FoundationEssentials

/// The properties of the ICC profile in an image file.
struct ProfileReport: Sendable {
    /// The effect of a profile on the colors.
    enum Use: String, Sendable, Encodable {
        /// The colors are converted from the profile.
        case converted
        /// The profile equals sRGB, so that no conversion is needed.
        case sRGB
        /// The file declares its color space in another way, which takes precedence.
        case overridden
        /// The profile is unusable. The samples count as sRGB, and inks are converted by a formula.
        case unusable
    }

    /// The size of the profile; nil if the decoder ignores it.
    let byteCount: Int?
    /// The name of the profile, which is untrusted text; nil if it has none.
    let name: String?
    let use: Use
    /// The reason why the profile is unusable; nil for all other uses.
    let error: String?

    /// Creates the report by an attempt to use the profile. The result is nil if the file has none.
    init?(_ info: ImageInfo) {
        guard let profile = info.metadata.colorProfile else {
            guard info.metadata.hasIgnoredColorProfile else { return nil }
            (byteCount, name, use) = (nil, nil, .unusable)
            error = "color: the profile is damaged, does not fit the image or is too large"
            return
        }
        byteCount = profile.count
        name = ICCProfile.name(of: profile)
        guard info.colorDescription == nil else {
            use = .overridden
            error = nil
            return
        }
        let hasInks = info.colorModel == .cmyk || info.colorModel == .ycck
        // Decoders drop these profiles. Only the decoder of JPEG returns inks.
        guard info.sampleProfile != nil, !hasInks || info.format == .jpeg else {
            use = .unusable
            error =
                hasInks
                ? "color: inks of this format are converted by a formula"
                : "color: the profile describes gray, and the image has colors"
            return
        }
        var header = PixelRowHeader(size: info.size, format: .rgba8, alphaMode: .straight, colorProfile: profile)
        header.hasInks = hasInks
        do throws(ColorConversionError) {
            let conversion = try LittleCMSColorConverter().conversion(of: header, to: .sRGB)
            use = conversion == nil ? .sRGB : .converted
            self.error = nil
        } catch {
            use = .unusable
            self.error = error.message
        }
    }

    /// The properties in one line, such as `548 bytes, Display P3`.
    var text: String {
        let effect: String? =
            switch use {
            case .converted: nil
            case .sRGB: "equal to sRGB"
            case .overridden: "overridden by the file's color space"
            case .unusable: "unusable: \(error ?? "")"
            }
        return [byteCount.map { "\($0) bytes" }, name, effect].compactMap { $0 }.joined(separator: ", ")
    }
}
