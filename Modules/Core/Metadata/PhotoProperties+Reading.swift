import AlcedoLibc
import FoundationEssentials

extension PhotoProperties {
    /// Reads the properties from EXIF, XMP, IPTC and the texts of PNG. Damaged parts are ignored, and so are texts in
    /// EXIF and IPTC of more than 64 KiB, and artists after the first 64.
    ///
    /// O(bytes), once for each part: keep the result instead of reading it again.
    ///
    /// Source: Metadata Working Group, "Guidelines for Handling Image Metadata", version 2.0, chapters 3 and 5.
    public init(_ metadata: ImageMetadata) {
        self.init()
        if let exif = metadata.exif { fill(from: Self(exif: exif)) }
        let xmp = metadata.xmp.flatMap(XMPProperties.init).map(Self.init(xmp:)) ?? Self()
        if let iptc = metadata.iptc {
            var other = Self(iptc: IPTCRecord(iptc))
            if metadata.isIPTCNewer {
                other.restoreTruncatedTexts(from: xmp)
                fill(from: other)
                fill(from: xmp)
            } else {
                fill(from: xmp)
                fill(from: other)
            }
        } else {
            fill(from: xmp)
        }
        fill(from: Self(texts: metadata.texts))
        artists = Array(artists.prefix(ImageMetadata.maximumTextCount))
    }

    // Source: CIPA DC-008 (Exif 2.32), sections 4.6.4 and 4.6.5.
    private init(exif: Data) {
        self.init()
        exif.withUnsafeBytes { memory in
            guard let reader = EXIFReader(memory.bytes) else { return }
            func positive(_ tag: Int) -> Double? { reader.number(tag, in: .photo).flatMap { $0 > 0 ? $0 : nil } }
            func date(_ tag: Int, in directory: EXIFReader.Directory, fraction: Int, offset: Int) -> PhotoDate? {
                reader.text(tag, in: directory).flatMap {
                    PhotoDate(
                        $0, fraction: reader.text(fraction, in: .photo), offset: reader.text(offset, in: .photo))
                }
            }
            make = reader.text(0x010F, in: .image)
            model = reader.text(0x0110, in: .image)
            lensMake = reader.text(0xA433, in: .photo)
            lensModel = reader.text(0xA434, in: .photo)
            exposureTime = positive(0x829A) ?? Self.exposureTime(apex: reader.number(0x9201, in: .photo))
            fNumber = positive(0x829D) ?? Self.fNumber(apex: reader.number(0x9202, in: .photo))
            isoSpeed = Self.isoSpeed(
                // The sensitivity, and three tags for what a SHORT does not hold: the recommended exposure index, the
                // standard output sensitivity, and the ISO speed.
                reader.integer(0x8827, in: .photo), [0x8832, 0x8831, 0x8833].map { reader.integer($0, in: .photo) })
            focalLength = positive(0x920A)
            focalLengthIn35mmFilm = positive(0xA405)
            exposureBias = reader.number(0x9204, in: .photo)
            flashFired = reader.integer(0x9209, in: .photo).map { $0 & 1 == 1 }
            dateTimeOriginal = date(0x9003, in: .photo, fraction: 0x9291, offset: 0x9011)
            dateTimeDigitized = date(0x9004, in: .photo, fraction: 0x9292, offset: 0x9012)
            dateTimeModified = date(0x0132, in: .image, fraction: 0x9290, offset: 0x9010)
            orientation = reader.integer(0x0112, in: .image).flatMap(ImageOrientation.init(rawValue:))
            artists = reader.text(0x013B, in: .image).map(MetadataText.names) ?? []
            // The notices of the photographer and of the editor end with a zero each.
            let notices = reader.bytes(0x8298, in: .image)?.split(separator: 0, maxSplits: 2).prefix(2) ?? []
            let texts = notices.compactMap { MetadataText.decoded($0) }
            copyright = texts.isEmpty ? nil : texts.joined(separator: "\n")
            description = reader.text(0x010E, in: .image)
            hasGPS = reader.hasLocation
        }
    }

    // Source: XMP specification part 2, chapters 2 and 3; CIPA DC-010 (Exif 2.32 metadata for XMP).
    private init(xmp: XMPProperties) {
        self.init()
        func positive(_ names: XMPName...) -> Double? {
            names.lazy.compactMap { xmp.number($0) }.first { $0 > 0 }
        }
        func integer(_ name: XMPName) -> Int? { xmp.number(name).flatMap { Int(exactly: $0) } }
        func date(_ names: XMPName...) -> PhotoDate? {
            names.lazy.compactMap { xmp.text($0).flatMap { PhotoDate($0) } }.first
        }
        make = xmp.text(.tiff("Make"))
        model = xmp.text(.tiff("Model"))
        lensMake = xmp.text(.exifEX("LensMake"))
        lensModel = xmp.text(.exifEX("LensModel")) ?? xmp.text(.aux("Lens"))
        exposureTime =
            positive(.exif("ExposureTime")) ?? Self.exposureTime(apex: xmp.number(.exif("ShutterSpeedValue")))
        fNumber = positive(.exif("FNumber")) ?? Self.fNumber(apex: xmp.number(.exif("ApertureValue")))
        isoSpeed = Self.isoSpeed(
            integer(.exifEX("PhotographicSensitivity")) ?? integer(.exif("ISOSpeedRatings")),
            [
                integer(.exifEX("RecommendedExposureIndex")), integer(.exifEX("StandardOutputSensitivity")),
                integer(.exifEX("ISOSpeed")),
            ])
        focalLength = positive(.exif("FocalLength"))
        focalLengthIn35mmFilm = positive(.exif("FocalLengthIn35mmFilm"))
        exposureBias = xmp.number(.exif("ExposureBiasValue"))
        flashFired = xmp.text(.exif("Fired"), of: .exif("Flash")).flatMap { Bool($0.lowercased()) }
        dateTimeOriginal = date(.photoshop("DateCreated"), .exif("DateTimeOriginal"))
        dateTimeDigitized = date(.basic("CreateDate"), .exif("DateTimeDigitized"))
        dateTimeModified = date(.basic("ModifyDate"), .tiff("DateTime"))
        orientation = integer(.tiff("Orientation")).flatMap(ImageOrientation.init(rawValue:))
        artists = (xmp.texts(.dublinCore("creator")) ?? []).compactMap(MetadataText.trimmed)
        if artists.isEmpty { artists = xmp.text(.tiff("Artist")).map(MetadataText.names) ?? [] }
        copyright = xmp.text(.dublinCore("rights")) ?? xmp.text(.tiff("Copyright"))
        title = xmp.text(.dublinCore("title"))
        description = xmp.text(.dublinCore("description")) ?? xmp.text(.tiff("ImageDescription"))
        hasGPS = xmp.contains { name in
            name.namespace == XMPName.exif && name.local.hasPrefix("GPS") && name.local != "GPSVersionID"
        }
    }

    // Source: IPTC-NAA Information Interchange Model, version 4.2, section 6.
    private init(iptc: IPTCRecord) {
        self.init()
        let texts = iptc.texts([5, 55, 60, 62, 63, 80, 116, 120])
        func text(_ number: UInt8) -> String? { texts[number]?.first }
        func date(_ day: UInt8, _ time: UInt8) -> PhotoDate? {
            text(day).flatMap { PhotoDate([$0, text(time)].compactMap { $0 }.joined(separator: "T")) }
        }
        dateTimeOriginal = date(55, 60)
        dateTimeDigitized = date(62, 63)
        artists = texts[80] ?? []
        copyright = text(116)
        title = text(5)
        description = text(120)
    }

    /// Replaces texts that IPTC has cut at their maximum length by those of XMP that begin with them.
    private mutating func restoreTruncatedTexts(from xmp: Self) {
        func restore(_ text: inout String?, _ whole: String?, maximumByteCount: Int) {
            guard let cut = text, let whole, cut.utf8.count == maximumByteCount, whole.hasPrefix(cut) else { return }
            text = whole
        }
        restore(&title, xmp.title, maximumByteCount: 64)
        restore(&copyright, xmp.copyright, maximumByteCount: 128)
        restore(&description, xmp.description, maximumByteCount: 2_000)
        guard artists.count == xmp.artists.count else { return }
        for index in artists.indices {
            var artist = Optional(artists[index])
            restore(&artist, xmp.artists[index], maximumByteCount: 32)
            artists[index] = artist ?? artists[index]
        }
    }

    // Source: W3C PNG specification, third edition, section 11.3.3.
    private init(texts: [String: String]) {
        self.init()
        // Of keywords that differ only in case, the first in order.
        let texts = Dictionary(texts.sorted { $0.key < $1.key }.map { ($0.key.lowercased(), $0.value) }) { first, _ in
            first
        }
        func text(_ keyword: String) -> String? { texts[keyword].flatMap(MetadataText.trimmed) }
        artists = text("author").map { [$0] } ?? []
        copyright = text("copyright")
        title = text("title")
        description = text("description")
    }

    /// Returns the exposure time in seconds for the shutter speed in the units of APEX.
    private static func exposureTime(apex value: Double?) -> Double? {
        // A value beyond this range is not that of a photo.
        value.flatMap { abs($0) <= 64 ? exp2(-$0) : nil }
    }

    /// Returns the f-number for the aperture in the units of APEX.
    private static func fNumber(apex value: Double?) -> Double? {
        value.flatMap { abs($0) <= 64 ? exp2($0 / 2) : nil }
    }

    /// Returns the sensitivity. A SHORT holds 65,535 for a higher one, which another tag then has.
    private static func isoSpeed(_ value: Int?, _ others: [Int?]) -> Int? {
        // A LONG of ones is unknown.
        let higher = others.lazy.compactMap { $0 }.first { 1..<0xFFFF_FFFF ~= $0 }
        guard let value, value > 0 else { return higher }
        return value == 65_535 ? higher ?? value : value
    }
}
