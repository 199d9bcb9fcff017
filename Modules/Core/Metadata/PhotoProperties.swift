/// The properties of a photo that cameras and editors store in EXIF, XMP and IPTC.
///
/// ```swift
/// let info = try CodecRegistry.standard.inspect(data)
/// let photo = PhotoProperties(info.metadata)
/// print(photo.make ?? "", photo.model ?? "", photo.exposureTime ?? 0, photo.fNumber ?? 0, photo.isoSpeed ?? 0)
/// if photo.hasGPS { print("The photo tells where it was taken.") }
/// ```
///
/// A property is nil if the file does not state it, or not in a valid form. When several parts of the file state it,
/// the guidelines of the Metadata Working Group decide:
///
/// 1. EXIF takes precedence.
/// 2. XMP follows, and IPTC after it.
/// 3. IPTC comes before XMP if ``ImageMetadata/iptcDigest`` shows that only IPTC was changed last.
/// 4. The texts of PNG come last.
///
/// The location is not one of the properties, but whether there is one: ``hasGPS``. ``GPSCoordinates`` reads it.
public struct PhotoProperties: Sendable, Hashable {
    /// The maker of the camera.
    public var make: String?
    /// The model of the camera.
    public var model: String?
    /// The maker of the lens.
    public var lensMake: String?
    /// The model of the lens.
    public var lensModel: String?
    /// The exposure time in seconds.
    public var exposureTime: Double?
    /// The f-number: the focal length divided by the diameter of the aperture.
    public var fNumber: Double?
    /// The sensitivity as defined by ISO, such as 100.
    public var isoSpeed: Int?
    /// The focal length in millimeters.
    public var focalLength: Double?
    /// The focal length in millimeters of a lens with the same angle of view on 35 mm film.
    public var focalLengthIn35mmFilm: Double?
    /// The exposure bias in EV.
    public var exposureBias: Double?
    /// Whether the flash fired.
    public var flashFired: Bool?
    /// When the photo was taken.
    public var dateTimeOriginal: PhotoDate?
    /// When the image was stored in digital form. Cameras store that of ``dateTimeOriginal``.
    public var dateTimeDigitized: PhotoDate?
    /// When the file was changed last.
    public var dateTimeModified: PhotoDate?
    /// The orientation in EXIF or XMP. Decoders use ``ImageInfo/orientation``, because some formats do not allow
    /// metadata to change it.
    public var orientation: ImageOrientation?
    /// The names of the creators, at most 64.
    public var artists: [String] = []
    /// The notice of copyright. That of an editor follows that of the photographer in a line of its own.
    public var copyright: String?
    /// The short title.
    public var title: String?
    /// The description of the content.
    public var description: String?
    /// Whether EXIF or XMP has tags of GPS, also without valid coordinates, and also inside of another property.
    ///
    /// If false, the file can still tell the location by names of places in IPTC and XMP, by a text, or in maker notes.
    /// `MetadataPolicy.keepWithoutLocation` and `.strip` remove these, too.
    public var hasGPS = false

    /// Creates properties that are all absent.
    public init() {}
}

extension PhotoProperties {
    /// Takes the properties from another part of the metadata that this part does not state.
    mutating func fill(from other: Self) {
        make = make ?? other.make
        model = model ?? other.model
        lensMake = lensMake ?? other.lensMake
        lensModel = lensModel ?? other.lensModel
        exposureTime = exposureTime ?? other.exposureTime
        fNumber = fNumber ?? other.fNumber
        isoSpeed = isoSpeed ?? other.isoSpeed
        focalLength = focalLength ?? other.focalLength
        focalLengthIn35mmFilm = focalLengthIn35mmFilm ?? other.focalLengthIn35mmFilm
        exposureBias = exposureBias ?? other.exposureBias
        flashFired = flashFired ?? other.flashFired
        dateTimeOriginal = dateTimeOriginal ?? other.dateTimeOriginal
        dateTimeDigitized = dateTimeDigitized ?? other.dateTimeDigitized
        dateTimeModified = dateTimeModified ?? other.dateTimeModified
        orientation = orientation ?? other.orientation
        if artists.isEmpty { artists = other.artists }
        copyright = copyright ?? other.copyright
        title = title ?? other.title
        description = description ?? other.description
        hasGPS = hasGPS || other.hasGPS
    }
}
