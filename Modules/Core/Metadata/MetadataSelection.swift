/// The parts of metadata that are written to a new file.
package enum MetadataSelection: Sendable {
    /// The creator, the credit and the statements of rights.
    case copyright
    /// Known properties without a location or private data.
    case withoutLocation
    /// Everything but what describes the original file instead of the image.
    case all
}

extension ImageMetadata {
    /// Returns the selected parts of EXIF, XMP, IPTC, the texts and the resolution, without the color profile.
    /// O(bytes).
    ///
    /// A part that cannot be parsed is omitted, except that all EXIF and IPTC is selected unchanged.
    package func selected(_ selection: MetadataSelection) -> ImageMetadata {
        var result = ImageMetadata(
            xmp: xmp.flatMap { XMPFilter.filtered($0, selection) }, texts: selectedTexts(selection))
        switch selection {
        case .copyright:
            result.exif = exifWithCopyright
            result.iptc = iptc.flatMap { IPTCRecord($0).filtered(IPTCRecord.rights) }
        case .withoutLocation:
            result.exif = exifWithoutLocation
            result.iptc = iptc.flatMap { IPTCRecord($0).filtered(IPTCRecord.harmless) }
            result.resolution = resolution
        case .all: (result.exif, result.iptc, result.resolution) = (exif, iptc, resolution)
        }
        // Without a digest, XMP takes precedence, as it does with that of the record.
        if isIPTCNewer, result.iptc != nil { result.iptcDigest = iptcDigest }
        return result
    }
}
