import Foundation

/// The sample pictures of quickstart.
enum Samples {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Examples/Quickstart/Pictures").standardized

    static func data(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }
}
