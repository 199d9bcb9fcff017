package import FoundationEssentials

/// The sample images of the quickstart example.
package enum SampleImages {
    package static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Examples/Quickstart/Pictures").standardized

    package static func path(_ name: String) -> String { directory.appending(path: name).path }

    package static func data(_ name: String) throws -> Data { try Data(contentsOf: directory.appending(path: name)) }
}
