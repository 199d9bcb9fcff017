import AlcedoCore
import FoundationEssentials

/// The metadata of a converted image. Every policy keeps the color profile if the encoder can store it, because the
/// colors depend on it.
public enum MetadataPolicy: Sendable, Hashable {
    /// No metadata, except an orientation that the converter does not apply. This is the default of ``ImageConverter``:
    /// an uploaded photo usually contains its location, date, camera and owner, which a server should publish only on
    /// purpose.
    case strip
    /// EXIF without a location. The description, software, resolution, orientation, exposure, colors, dates, author and
    /// copyright are kept. The names and serial numbers of the camera and the lens, and the name of the camera's owner,
    /// are kept, too.
    ///
    /// All other tags are removed, because they may contain a location: GPS data, maker notes, comments, time zones,
    /// preview images and private tags. Damaged entries are removed, and the other entries are kept. If the EXIF has no
    /// valid header or no valid entry, or if the result would be longer than the original, for example because its
    /// entries share bytes, all of it is removed.
    case keepWithoutLocation
    /// All EXIF, including location and preview image. The orientation tag is set to the orientation of the result.
    ///
    /// XMP and IPTC are not kept, because no encoder writes them. GIF holds no EXIF. JPEG holds at most 65,527 bytes of
    /// EXIF, and larger data is omitted.
    case keep

    /// Returns the EXIF of an image that the policy keeps, or nil if there is none.
    func exif(of info: ImageInfo) -> Data? {
        switch self {
        case .strip: nil
        case .keepWithoutLocation: info.metadata.exifWithoutLocation
        case .keep: info.metadata.exif
        }
    }
}
