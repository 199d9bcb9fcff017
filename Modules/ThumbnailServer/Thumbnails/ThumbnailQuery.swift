import Alcedo
import AlcedoHTTP
import FoundationEssentials

/// What is asked for: a picture, a size and a format.
struct ThumbnailQuery: Sendable {
    static let path = "/thumbnail"
    static let defaultQuality = 80
    private static let names: Set = [
        "url", "w", "h", "fit", "format", "quality", URLSignature.name, URLSignature.expiry,
    ]

    let source: SourceURL
    /// The size; a side that is not given is the longest there may be.
    let size: PixelSize
    let fit: ThumbnailFit
    let format: OutputFormat
    let quality: Int
    /// Whether what the client accepts had a part in the choice of the format.
    let isNegotiated: Bool

    /// - Parameters:
    ///   - maximumSide: Most pixels of a side.
    ///   - accept: What the client accepts.
    /// - Throws: ``HTTPError`` 400.
    init(_ items: QueryItems, accept: String?, maximumSide: Int) throws(HTTPError) {
        guard items.items.allSatisfy({ Self.names.contains($0.name) }) else {
            throw HTTPError(400, "there is no such parameter; there are url, w, h, fit, format and quality")
        }
        guard let text = items["url"] else { throw HTTPError(400, "url is missing") }
        source = try SourceURL(text)
        let width = try Self.number("w", of: items, in: 1...maximumSide)
        let height = try Self.number("h", of: items, in: 1...maximumSide)
        guard let fit = ThumbnailFit(rawValue: items["fit"] ?? "fit") else {
            throw HTTPError(400, "fit is fit, fill or exact")
        }
        guard fit == .fit || (width != nil && height != nil) else {
            throw HTTPError(400, "fill and exact need w and h")
        }
        guard width != nil || height != nil else { throw HTTPError(400, "w or h is missing") }
        self.fit = fit
        size = PixelSize(width: width ?? maximumSide, height: height ?? maximumSide)
        switch items["format"] ?? "auto" {
        case "auto": (format, isNegotiated) = (AcceptField(accept).names("image/webp") ? .webp : .plain, true)
        case "webp": (format, isNegotiated) = (.webp, false)
        case "jpeg": (format, isNegotiated) = (.jpeg, false)
        case "png": (format, isNegotiated) = (.png, false)
        default: throw HTTPError(400, "format is auto, webp, jpeg or png")
        }
        let quality = try Self.number("quality", of: items, in: 1...100)
        self.quality = format.isLossy ? quality ?? Self.defaultQuality : 0
    }

    private static func number(
        _ name: String, of items: QueryItems, in range: ClosedRange<Int>
    ) throws(HTTPError) -> Int? {
        guard let text = items[name] else { return nil }
        // Int would take a sign, too.
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), range.contains(number)
        else {
            throw HTTPError(400, "\(name) is a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// What the answer is kept under. Equal for queries that get the same bytes.
    var key: ImageKey {
        ImageKey(
            ResourceKey(source.url),
            variant: "thumbnail:3;\(size.width)x\(size.height);\(fit.rawValue);\(format.rawValue);\(quality)")
    }

    /// The picture before it is encoded. No step makes one that is larger than both the original and ``size``.
    ///
    /// - Parameters:
    ///   - silence: The longest of the origin.
    ///   - life: How old a copy of the original may be that is not asked for anew, in whole seconds.
    func imageRequest(_ limits: DecodingLimits, idleTimeout: Duration, maximumAge: Duration) -> ImageRequest {
        let seconds = maximumAge.components.seconds
        // The age of nought is a reload's, to which the origin may have said that nothing changes.
        let control = seconds > 0 ? "max-age=\(seconds)" : "no-cache"
        var request = ImageRequest(
            source: .http(HTTPRequest(url: source.url, fields: ["Cache-Control": control], idleTimeout: idleTimeout)))
        request.decoding.limits = limits
        request.decoding.includesAnimation = false
        request.decoding.target = TargetSize(size, mode: fit == .fit ? .fit : .fill)
        switch fit {
        case .fit: request.processors = [.resize(fitting: size)]
        // Cut first: of an original that is one line, what covers the size has thousands of times its pixels.
        case .fill:
            request.processors = [.crop(aspect: size), .resize(exactly: size, enlarges: true)]
        case .exact: request.processors = [.resize(exactly: size, enlarges: true)]
        }
        return request
    }
}

/// How a picture meets the size that is asked for.
enum ThumbnailFit: String, Sendable {
    /// The whole picture inside the size; never enlarged.
    case fit
    /// The size covered, and what is beyond it cut off.
    case fill
    /// Just the size; proportions change.
    case exact
}

/// The format of an answer, as far as it can be told before the picture is there.
enum OutputFormat: String, Sendable {
    case webp, jpeg, png
    /// PNG for a picture with alpha, else JPEG.
    case plain

    /// Whether the quality means anything.
    var isLossy: Bool { self != .png }

    /// - Parameter quality: From 1 to 100.
    func encoder(for image: DecodedImage, quality: Int) -> any ImageEncoding {
        switch self {
        case .webp: .webp(quality: quality)
        case .png: .png()
        case .jpeg: .jpeg(quality: quality)
        case .plain: JPEGEncoder().holds(image) ? .jpeg(quality: quality) : .png()
        }
    }
}

/// What a client says it can show. Source: RFC 9110 section 12.5.1.
struct AcceptField {
    private let text: String?

    init(_ text: String?) { self.text = text }

    /// Whether a type is named, with a weight above nought. Ranges such as `image/*` do not name it: old browsers say them
    /// and mean the formats of their day.
    func names(_ type: String) -> Bool {
        guard let text else { return false }
        return text.split(separator: ",").contains { member in
            let parts = member.split(separator: ";", omittingEmptySubsequences: false)
            guard let name = parts.first, Self.trimmed(name).lowercased() == type else { return false }
            let weights = parts.dropFirst().map { Self.trimmed($0).lowercased() }.filter { $0.hasPrefix("q=") }
            // A weight that is none counts as nought: what cannot be read is not promised.
            return weights.allSatisfy { (Double($0.dropFirst(2)) ?? 0) > 0 }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...end]
    }
}
