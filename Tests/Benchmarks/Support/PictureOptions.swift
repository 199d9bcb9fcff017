import AlcedoProgramSupport
import Foundation

/// The options of benchmarks that read images from a directory and compare with libraries of Python.
struct PictureOptions {
    private var path: String?
    /// The path of the Python interpreter; nil to measure Alcedo only.
    private(set) var python: String?
    private(set) var rounds = 5
    private var filter = ""

    /// Whether there is a directory.
    var isComplete: Bool { path != nil }

    /// Takes the value of an option. Returns false if the option is another one.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--pictures": path = try arguments.value(of: option)
        case "--python": python = try arguments.value(of: option)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...1_000)
        case "--only": filter = try arguments.value(of: option)
        default: return false
        }
        return true
    }

    /// Returns the URL of a directory in that of the images. Throws ``UsageError`` if there is none.
    func directory(_ name: String, of command: String) throws -> URL {
        guard let path else { throw UsageError("\(command) needs --pictures") }
        return URL(filePath: path).appending(path: name)
    }

    /// Whether the part of a benchmark with this name is measured.
    func includes(_ name: String) -> Bool { filter.isEmpty || name.contains(filter) }
}
