import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// The properties of one image. A property is nil if it is unknown or absent from the file.
struct ImageReport: Sendable, Encodable {
    /// The argument that names the image.
    var input: String
    var format: String?
    var width: Int?
    var height: Int?
    var hasAlpha: Bool?
    /// The value of the EXIF orientation tag, 1 to 8.
    var orientation: Int?
    var bitDepth: Int?
    var colorModel: String?
    /// The name of the color space that the file declares by numbers instead of an ICC profile.
    var color: String?
    var frameCount: Int?
    /// The number of pages. The other properties are those of the first page.
    var pageCount: Int?
    /// The loop count that the file stores. Zero means that the animation repeats forever.
    var loopCount: Int?
    /// The frame delays that the file stores, in milliseconds.
    var delaysMs: [Double]?
    var profile: ProfileReport?
    var exifBytes: Int?
    var xmpBytes: Int?
    var iptcBytes: Int?
    /// The resolution in pixels per inch, along a row and a column.
    var horizontalResolution: Double?
    var verticalResolution: Double?
    /// The properties in EXIF, XMP and IPTC, and the location if it was requested.
    var photo: PhotoReport?
    /// The digests of the frames. Set only with `--pixels`.
    var frames: [FrameDigest]?
    /// The placeholders. Set only with `--placeholders`.
    var placeholders: PlaceholderReport?
    /// The damage that was tolerated. Found only when pixels are decoded.
    private(set) var tolerated: ImageDamage?
    /// The number of files that are not images, if the report is that of a directory.
    var skipped: Int?
    /// The error, which begins with the code of ``ImageDecodingError``, or with `empty` or `unreadable`.
    var error: String?
    /// The code at the beginning of the error.
    var errorCode: String?

    init(input: String) { self.input = input }

    /// Takes the properties that are known without decoding.
    ///
    /// - Parameters:
    ///   - info: The properties.
    ///   - readsLocation: Whether the coordinates of the photo are reported.
    mutating func take(_ info: ImageInfo, readsLocation: Bool) {
        format = info.format.rawValue
        width = info.size.width
        height = info.size.height
        hasAlpha = info.hasAlpha
        orientation = info.orientation.rawValue
        bitDepth = info.bitDepth
        colorModel = info.colorModel.rawValue
        color = info.colorDescription?.name
        frameCount = info.frameCount
        pageCount = info.pageCount
        loopCount = info.loopCount
        delaysMs = info.delays.map { $0 / .milliseconds(1) }
        profile = ProfileReport(info)
        exifBytes = info.metadata.exif?.count
        xmpBytes = info.metadata.xmp?.count
        iptcBytes = info.metadata.iptc?.count
        horizontalResolution = info.metadata.resolution?.horizontal
        verticalResolution = info.metadata.resolution?.vertical
        photo = PhotoReport(info.metadata, readsLocation: readsLocation)
    }

    /// Takes the damage that a decoder tolerated, unless worse damage is known.
    mutating func take(_ damage: ImageDamage?) { tolerated = .worst(tolerated, damage) }

    private enum CodingKeys: String, CodingKey {
        case input, format, width, height, hasAlpha, orientation, bitDepth, colorModel, color, frameCount, pageCount
        case loopCount, delaysMs, profileBytes, profileName, profileUse, profileError, exifBytes, xmpBytes, iptcBytes
        case horizontalResolution, verticalResolution, photo, frames, placeholders, damage, damageMessage
        case skipped, error
    }

    /// Encodes every key, with null for unknown values, so that scripts need no test for a missing key. Only `frames`
    /// and `placeholders` are omitted if they are nil.
    func encode(to encoder: any Encoder) throws {
        var keys = encoder.container(keyedBy: CodingKeys.self)
        try keys.encode(input, forKey: .input)
        try keys.encode(format, forKey: .format)
        try keys.encode(width, forKey: .width)
        try keys.encode(height, forKey: .height)
        try keys.encode(hasAlpha, forKey: .hasAlpha)
        try keys.encode(orientation, forKey: .orientation)
        try keys.encode(bitDepth, forKey: .bitDepth)
        try keys.encode(colorModel, forKey: .colorModel)
        try keys.encode(color, forKey: .color)
        try keys.encode(frameCount, forKey: .frameCount)
        try keys.encode(pageCount, forKey: .pageCount)
        try keys.encode(loopCount, forKey: .loopCount)
        try keys.encode(delaysMs, forKey: .delaysMs)
        try keys.encode(profile?.byteCount, forKey: .profileBytes)
        try keys.encode(profile?.name, forKey: .profileName)
        try keys.encode(profile?.use, forKey: .profileUse)
        try keys.encode(profile?.error, forKey: .profileError)
        try keys.encode(exifBytes, forKey: .exifBytes)
        try keys.encode(xmpBytes, forKey: .xmpBytes)
        try keys.encode(iptcBytes, forKey: .iptcBytes)
        try keys.encode(horizontalResolution, forKey: .horizontalResolution)
        try keys.encode(verticalResolution, forKey: .verticalResolution)
        try keys.encode(photo, forKey: .photo)
        try keys.encodeIfPresent(frames, forKey: .frames)
        try keys.encodeIfPresent(placeholders, forKey: .placeholders)
        try keys.encode(tolerated?.kindName, forKey: .damage)
        try keys.encode(tolerated?.message, forKey: .damageMessage)
        try keys.encode(skipped, forKey: .skipped)
        try keys.encode(error, forKey: .error)
    }
}

extension ImageReport {
    /// The report as lines of text, or an empty text if the image could not be inspected. Does not contain the error.
    var text: String {
        var lines = [Console.printable(input)]
        if let format, let width, let height {
            let alpha = hasAlpha == true ? ", with alpha" : ""
            lines.append("  \(format), \(width) x \(height), \(colorModel ?? "?") of \(bitDepth ?? 0) bits\(alpha)")
        }
        if let orientation, orientation != 1 { lines.append("  orientation \(orientation)") }
        if let frameCount, let delaysMs, frameCount > 1 {
            let total = delaysMs.reduce(0, +) / 1000
            let loops = loopCount.map { $0 == 0 ? "endless" : "loop count \($0)" } ?? "no loop count"
            lines.append("  \(frameCount) frames, \(total) s, \(loops)")
        }
        if let pageCount, pageCount > 1 { lines.append("  \(pageCount) pages") }
        if let horizontalResolution, let verticalResolution {
            let (horizontal, vertical) = (Int(horizontalResolution.rounded()), Int(verticalResolution.rounded()))
            let text = horizontal == vertical ? "\(horizontal)" : "\(horizontal) x \(vertical)"
            lines.append("  resolution: \(text) pixels per inch")
        }
        if let color { lines.append("  color: \(color)") }
        if let profile { lines.append("  profile: \(Console.printable(profile.text))") }
        for (name, count) in [("EXIF", exifBytes), ("XMP", xmpBytes), ("IPTC", iptcBytes)] {
            if let count { lines.append("  \(name): \(count) bytes") }
        }
        lines += (photo?.lines ?? []).map { "  " + Console.printable($0) }
        for (index, frame) in (frames ?? []).enumerated() { lines.append("  frame \(index): \(frame.sha256)") }
        if let placeholders {
            lines.append("  ThumbHash: \(placeholders.thumbHash)")
            lines.append("  BlurHash: \(placeholders.blurHash)")
            if let color = placeholders.dominantColor { lines.append("  dominant color: \(color)") }
        }
        if let tolerated { lines.append("  \(Console.printable(tolerated.text))") }
        return lines.count == 1 ? "" : lines.map { $0 + "\n" }.joined()
    }
}

struct PlaceholderReport: Sendable, Encodable {
    /// The ThumbHash in base64.
    let thumbHash: String
    /// The BlurHash with 4 x 3 components.
    let blurHash: String
    /// The dominant color as in style sheets, such as `#336699`, or nil if every pixel is transparent.
    let dominantColor: String?
}

/// The SHA-256 digests of one frame's rows.
struct FrameDigest: Sendable, Encodable {
    let sha256: String
    /// The digest of the rows in which each pixel of alpha 0 is replaced by four zeros, because decoders differ in the
    /// color of transparent pixels.
    let sha256Alpha0Zeroed: String

    /// Computes the digests of a frame.
    ///
    /// - Parameter pixels: Straight or opaque RGBA8 pixels.
    init(_ pixels: PixelBuffer) {
        var plain = SHA256()
        var zeroed = SHA256()
        for y in 0..<pixels.height {
            var row = pixels.row(y).withUnsafeBytes { Array($0) }
            plain.update(row)
            for alpha in stride(from: 3, to: row.count, by: 4) where row[alpha] == 0 {
                for channel in alpha - 3..<alpha { row[channel] = 0 }
            }
            zeroed.update(row)
        }
        sha256 = plain.finalizedHexadecimal()
        sha256Alpha0Zeroed = zeroed.finalizedHexadecimal()
    }
}
