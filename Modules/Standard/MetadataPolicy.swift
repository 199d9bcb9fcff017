package import AlcedoCore
package import FoundationEssentials

/// The metadata of a converted image.
///
/// Every policy writes the color profile that the pixels need, if the encoder can store it, because the colors depend
/// on it. Pixels in sRGB need none. When the colors are converted, the color space in EXIF becomes that of the result.
///
/// XMP, IPTC and comments are never written, not even by ``keep``. They may repeat the location in EXIF. XMP also
/// describes the original file, such as its orientation, its color space, its size and its edits.
public enum MetadataPolicy: Sendable, Hashable {
    /// No metadata, except an orientation that the converter does not apply. This is the default of ``ImageConverter``:
    /// an uploaded photo usually contains its location, date, camera and owner, which a server should publish only on
    /// purpose.
    ///
    /// A color profile is reduced to its colors, its name and its copyright. The model and the serial number of a
    /// display, its calibration, the date, private tags and bytes outside the tags are removed. A profile without such
    /// parts is kept unchanged, and a damaged profile is removed as a whole.
    case strip
    /// The artist, the copyright and the color space of EXIF. All other metadata is removed, and a color profile is
    /// reduced, as by ``strip``.
    case keepCopyright
    /// EXIF without a location. The description, software, resolution, orientation, exposure, colors, dates, author and
    /// copyright are kept. The names and serial numbers of the camera and the lens, and the name of the camera's owner,
    /// are kept, too.
    ///
    /// All other tags are removed, because they may contain a location: GPS data, maker notes, comments, time zones,
    /// preview images and private tags. Damaged entries are removed, and the other entries are kept. If the EXIF has no
    /// valid header or no valid entry, or if the result would be longer than the original, for example because its
    /// entries share bytes, all of it is removed. A color profile is reduced as by ``strip``.
    case keepWithoutLocation
    /// All EXIF, including the location, but without the preview image, which shows the original. The tags of the
    /// orientation, the width and the height are set to those of the result. Maker notes are kept unchanged, and may
    /// contain another preview. A color profile is kept unchanged.
    ///
    /// XMP and IPTC are removed, as by all policies. GIF holds no EXIF. JPEG holds at most 65,527 bytes of EXIF, and
    /// larger data is omitted.
    case keep

    /// Returns the EXIF of an image that the policy keeps, or nil if there is none.
    private func exif(of info: ImageInfo) -> Data? {
        switch self {
        case .strip: nil
        case .keepCopyright: info.metadata.exifWithCopyright
        case .keepWithoutLocation: info.metadata.exifWithoutLocation
        case .keep: info.metadata.exif
        }
    }

    /// Returns the encoder with the EXIF that the policy keeps, whose color space is that of the result.
    ///
    /// - Parameters:
    ///   - encoder: The encoder of the result.
    ///   - info: The properties of the source.
    ///   - colorSpace: The color space to which the pixels are converted.
    package func encoder(
        _ encoder: any ImageEncoding, for info: ImageInfo, in colorSpace: OutputColorSpace
    ) -> any ImageEncoding {
        guard let kept = exif(of: info) else { return encoder }
        // Samples without a profile are taken for sRGB and not converted, so EXIF still describes them.
        let isConverted = info.sampleProfile != nil || colorSpace == .displayP3
        return encoder.embedding(exif: isConverted ? colorSpace.written(in: kept) : kept)
    }

    /// Returns the color profile of the result for the profile of its pixels. Nil stands for sRGB.
    package func colorProfile(of profile: Data?) -> Data? {
        switch self {
        case .strip, .keepCopyright, .keepWithoutLocation: profile.flatMap(ICCProfile.withoutPrivateTags)
        case .keep: profile
        }
    }
}

/// A consumer that passes rows on with the color profile that a policy keeps.
final class MetadataFilteredRows: PixelRowConsumer {
    private let policy: MetadataPolicy
    private let next: any PixelRowConsumer

    init(_ policy: MetadataPolicy, next: any PixelRowConsumer) {
        self.policy = policy
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        var header = header
        header.colorProfile = policy.colorProfile(of: header.colorProfile)
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws { try next.consume(row) }

    func finish() throws { try next.finish() }
}
