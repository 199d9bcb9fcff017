import AlcedoLibc
import FoundationEssentials

/// The results of independent decoders for the files of a corpus.
struct Manifest: Decodable {
    /// The digests of a frame, where independent decoders agree to the bit.
    struct Frame: Decodable {
        var sha256: String?
        var sha256Alpha0Zeroed: String?
    }

    /// Means over a grid of cells, for lossy files whose pixels may differ slightly between libraries.
    struct BoxReference: Decodable {
        struct Tolerance: Decodable {
            var mean: Double
            var max: Int
        }

        var file: String
        var grid: [Int]
        var frames: Int
        /// Whether means are those of color multiplied by alpha.
        var premultiplied: Bool?
        var tolerance: Tolerance
    }

    /// The result of the library of Debian 12: an error, or the greatest and the mean difference of the means.
    struct Peer: Decodable {
        private(set) var name: String?
        private(set) var error: String?
        private(set) var boxMax: Double?
        private(set) var boxMean: Double?

        private enum CodingKeys: CodingKey {
            case name, error, boxMax, boxMean
        }

        init(from decoder: any Decoder) throws {
            // For invalid files, the manifest has a text instead.
            guard let values = try? decoder.container(keyedBy: CodingKeys.self) else { return }
            name = try values.decodeIfPresent(String.self, forKey: .name)
            error = try values.decodeIfPresent(String.self, forKey: .error)
            boxMax = try values.decodeIfPresent(Double.self, forKey: .boxMax)
            boxMean = try values.decodeIfPresent(Double.self, forKey: .boxMean)
        }
    }

    /// The result of a decoder that differs. Only its presence matters.
    struct Difference: Decodable {
        init(from decoder: any Decoder) {}
    }

    struct File: Decodable {
        var path: String
        var settled: Bool?
        var width: Int?
        var height: Int?
        var frameCount: Int?
        var loopCount: Int?
        var delaysMs: [Double]?
        var orientation: Int?
        var format: String?
        /// The orientation of the stored rows, when the references are of the upright image.
        var transformOrientation: Int?
        /// The size at which a drawing is compared.
        var renderWidth: Int?
        var renderHeight: Int?
        /// The color of every pixel: red, green, blue, straight alpha.
        var flatRgba: [UInt8]?
        var frames: [Frame]?
        var boxReference: BoxReference?
        /// The image after its conversion to sRGB.
        var srgbBoxReference: BoxReference?
        var debian12: Peer?
        /// The decoders whose results differ. Those of this package's libraries are marked.
        var disagree: [String: Difference]?
        /// For invalid files only.
        var expect: String?

        var directory: String { String(path.prefix { $0 != "/" }) }

        /// The name of the format in a registry, or nil if the manifest has none.
        var formatName: String? {
            switch format {
            case "jpg": "jpeg"
            case "heic", "hif": "heif"
            default: format
            }
        }

        /// Whether width, height and references are those of the upright image.
        var isUpright: Bool { ["avif", "heif", "jxl", "svg"].contains(formatName) }

        /// Names of later versions of the libraries, by the file that they decode wrongly.
        private static let laterPeers = ["svg/resvg__structure_use_nested-recursive-2.svg": "librsvg 2.63"]

        /// The name of the library, if a version of it decodes the file wrongly.
        var wrongPeer: String? {
            if let peer = Self.laterPeers[path] { return peer }
            if let name = disagree?.keys.first(where: { $0.hasSuffix(" (project library)") }) { return name }
            // AlcedoHEIF does not use the library that the manifest compares.
            guard let debian12, let tolerance = boxReference?.tolerance, formatName != "heif" else { return nil }
            let isWrong =
                debian12.error != nil || debian12.boxMax ?? 0 > Double(tolerance.max)
                || debian12.boxMean ?? 0 > tolerance.mean
            return isWrong ? debian12.name : nil
        }
    }

    private var files: [File]

    /// Returns the files of manifest.json, and of manifest-formats.json if it exists.
    static func files(in directory: String) throws -> [File] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let manifests = ["manifest.json", "manifest-formats.json"].map { URL(filePath: "\(directory)/\($0)") }
        return try manifests.filter { $0 == manifests[0] || access($0.path, R_OK) == 0 }.flatMap {
            try decoder.decode(Self.self, from: Data(contentsOf: $0)).files
        }
    }
}
