public import FoundationEssentials

/// What a file says about its picture, byte for byte.
public struct ImageMetadata: Sendable, Hashable {
    /// The ICC profile.
    public var colorProfile: Data?
    /// EXIF, from the TIFF header on.
    public var exif: Data?
    /// The XMP packet, XML in UTF-8.
    public var xmp: Data?

    /// What a file says; by default nothing.
    public init(colorProfile: Data? = nil, exif: Data? = nil, xmp: Data? = nil) {
        self.colorProfile = colorProfile
        self.exif = exif
        self.xmp = xmp
    }
}
