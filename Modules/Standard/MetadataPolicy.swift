package import AlcedoCore
package import FoundationEssentials

/// The metadata of a converted image.
///
/// ```swift
/// let converter = ImageConverter(metadata: .keepCopyright)
/// let data = try await converter.convert(upload, to: .jpeg())
/// ```
///
/// Every policy writes the color profile that the pixels need, if the encoder can store it, because the colors depend
/// on it. Pixels in sRGB need none. When the colors are converted, the color space in EXIF becomes that of the result.
///
/// EXIF is written to JPEG, PNG, WebP, AVIF, JPEG XL and TIFF, XMP to these and GIF, and IPTC to JPEG, PNG and TIFF.
/// Texts of PNG are written to PNG; other formats with EXIF get the author and the copyright as tags. XMP is parsed,
/// and a new packet is written with the properties that the policy keeps. A packet that is not well-formed, or has a
/// document type declaration or more than 50,000 elements and attributes, is removed. Comments of a file are never
/// written.
public enum MetadataPolicy: Sendable, Hashable {
    /// No metadata, except an orientation that the converter does not apply. This is the default of ``ImageConverter``:
    /// an uploaded photo usually contains its location, date, camera and owner, which a server should publish only on
    /// purpose.
    ///
    /// A color profile is reduced to its colors, its name and its copyright. The model and the serial number of a
    /// display, its calibration, the date, private tags and bytes outside the tags are removed. A profile without such
    /// parts is kept unchanged, and a damaged profile is removed as a whole.
    case strip
    /// The artist, the copyright and the color space of EXIF, and the rights in XMP, IPTC and the texts of PNG:
    /// `dc:creator`, `dc:rights`, `xmpRights`, `photoshop:Credit`, `tiff:Artist`, `tiff:Copyright`, `cc:license`, and
    /// the names, identifiers and addresses of `plus:CopyrightOwner` and `plus:Licensor`; By-line, Credit and
    /// CopyrightNotice; Author and Copyright. All other metadata is removed, and a color profile is reduced, as by
    /// ``strip``.
    case keepCopyright
    /// EXIF, XMP and IPTC without a location, and the resolution. The description, software, orientation, exposure,
    /// colors, dates, author and copyright are kept. The names and serial numbers of the camera and the lens, and the
    /// name of the camera's owner, are kept, too.
    ///
    /// XMP and IPTC keep the corresponding properties, such as title, headline and rights. Keywords, places, contacts,
    /// identifiers and the history of edits are removed.
    ///
    /// All other tags are removed, because they may contain a location: GPS data, maker notes, comments, time zones,
    /// preview images and private tags. Damaged entries are removed, and the other entries are kept. If the EXIF has no
    /// valid header or no valid entry, or if the result would be longer than the original, for example because its
    /// entries share bytes, all of it is removed. A color profile is reduced as by ``strip``.
    case keepWithoutLocation
    /// All EXIF, XMP and IPTC, including the location, and the resolution, but without the preview image, which shows
    /// the original. The tags of the orientation, the width, the height and the resolution are set to those of the
    /// result. Maker notes are kept unchanged, and may contain another preview. A color profile is kept unchanged.
    ///
    /// XMP loses the properties that describe the original file: its orientation, its size, its resolution, its color
    /// space, its preview images, and its gain map and other parts that are not written.
    ///
    /// JPEG holds at most 65,527 bytes of EXIF and 65,504 bytes of XMP, and larger data is omitted. Of the directory of
    /// the image in EXIF, TIFF gets the description, maker, model, software, date, artist and copyright. BigTIFF, for
    /// images of 3 GiB or more, gets only these.
    case keep

    /// Returns the metadata of an image that the policy keeps, without a color profile.
    package func metadata(of info: ImageInfo) -> ImageMetadata {
        switch self {
        case .strip: ImageMetadata()
        case .keepCopyright: info.metadata.selected(.copyright)
        case .keepWithoutLocation: info.metadata.selected(.withoutLocation)
        case .keep: info.metadata.selected(.all)
        }
    }

    /// Returns the encoder with the metadata that the policy keeps, whose color space is that of the result.
    ///
    /// - Parameters:
    ///   - encoder: The encoder of the result.
    ///   - info: The properties of the source.
    ///   - colorSpace: The color space to which the pixels are converted.
    ///   - isUpright: Whether the orientation is applied to the pixels.
    ///   - resolution: The resolution to write instead of the one that the policy keeps; nil for the latter.
    package func encoder(
        _ encoder: any ImageEncoding, for info: ImageInfo, in colorSpace: OutputColorSpace, isUpright: Bool,
        resolution: ImageResolution?
    ) -> any ImageEncoding {
        var kept = metadata(of: info)
        if isUpright, info.orientation.swapsSides { kept.resolution = kept.resolution?.transposed }
        kept.resolution = resolution ?? kept.resolution
        guard kept != ImageMetadata() else { return encoder }
        // Samples without a profile are taken for sRGB and not converted, so EXIF still describes them.
        let isConverted = info.sampleProfile != nil || colorSpace == .displayP3
        if isConverted { kept.exif = kept.exif.map { colorSpace.written(in: $0) } }
        return encoder.embedding(kept)
    }

    /// Returns the color profile of the result for the profile of its pixels. Nil stands for sRGB.
    package func colorProfile(of profile: Data?) -> Data? {
        switch self {
        case .strip, .keepCopyright, .keepWithoutLocation: profile.flatMap(ICCProfile.withoutPrivateTags)
        case .keep: profile
        }
    }
}

/// A consumer that passes rows on with the color profile that a policy keeps, and with the color model of the file.
final class MetadataFilteredRows: PixelRowConsumer {
    private let policy: MetadataPolicy
    private let model: ColorModel?
    private let next: any PixelRowConsumer

    /// Creates a consumer. `model` is the color model of the file if no processor changes the pixels, or nil.
    init(_ policy: MetadataPolicy, _ model: ColorModel?, next: any PixelRowConsumer) {
        self.policy = policy
        self.model = model
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        var header = header
        header.colorProfile = policy.colorProfile(of: header.colorProfile)
        header.storedModel = model
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws { try next.consume(row) }

    func finish() throws { try next.finish() }

    func byteCount(for header: PixelRowHeader) -> Int { next.byteCount(for: header) }
}
