import FoundationEssentials

/// The results of independent decoders for the files of a corpus.
struct Manifest: Decodable {
    struct Frame: Decodable {
        var sha256: String
        var sha256Alpha0Zeroed: String
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
        var tolerance: Tolerance
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
        var frames: [Frame]?
        var boxReference: BoxReference?
        /// For invalid files only.
        var expect: String?

        var directory: String { String(path.prefix { $0 != "/" }) }
    }

    var files: [File]

    init(directory: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Self.self, from: Data(contentsOf: URL(filePath: "\(directory)/manifest.json")))
    }
}
