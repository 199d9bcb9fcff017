import AlcedoProgramSupport
import FoundationEssentials

/// The destination of the files of one image. Its methods block.
struct OutputSink: Sendable {
    enum Target: Sendable {
        case standardOutput
        /// A single file, to which frames are appended.
        case file(OutputFile, path: String)
        case directory(OutputDirectory)
    }

    let target: Target
    let names: FileNames
    let index: Int

    /// Writes the contents of a file, or of a frame.
    ///
    /// - Parameters:
    ///   - data: The bytes to write.
    ///   - frame: The index of the frame, or nil for the still image.
    func write(_ data: Data, frame: Int?) throws {
        switch target {
        case .standardOutput: try Console.output(data)
        case .file(let file, _): try file.append(data)
        case .directory(let directory): try directory.write(data, named: names.name(index, frame: frame))
        }
    }

    /// Whether each file is complete on its own, so that a failure of a later file does not affect it.
    var writesSeparateFiles: Bool {
        if case .directory = target { true } else { false }
    }

    /// Completes a single output file. Call it after the last write.
    func finish() throws {
        if case .file(let file, _) = target { try file.finish() }
    }

    /// Returns the path of a file, for messages; `-` stands for standard output.
    func path(frame: Int?) -> String {
        switch target {
        case .standardOutput: "-"
        case .file(_, let path): path
        case .directory(let directory): directory.path(of: names.name(index, frame: frame))
        }
    }
}

/// The names of the output files, which are unique.
struct FileNames: Sendable {
    private let stems: [String]
    private let ending: String

    /// Creates names from the names of the images.
    init(of images: ImageList, fileExtension: String) {
        var names = UniqueNames()
        stems = images.indices.map { names.unique(images[$0].fileStem) }
        ending = ".\(fileExtension)"
    }

    /// Returns the name of an image's file, or of the file of one of its frames. Frame names end with a plus sign and a
    /// number, which no image's name does.
    func name(_ index: Int, frame: Int?) -> String {
        guard let frame else { return stems[index] + ending }
        let digits = "\(frame)"
        return "\(stems[index])+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)\(ending)"
    }

    /// Returns the names that may be written to a directory.
    ///
    /// - Parameters:
    ///   - directory: The path of the output directory.
    ///   - hasFrames: Whether to include files of frames. The number of frames is unknown, so only names of existing
    ///     files are returned then.
    func all(in directory: String, hasFrames: Bool) -> [String] {
        guard hasFrames else { return stems.map { $0 + ending } }
        let known = Set(stems)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { name in
            guard name.hasSuffix(ending) else { return false }
            let stem = name.dropLast(ending.count)
            return known.contains(String(stem))
                || known.contains(String(stem[..<(stem.lastIndex(of: "+") ?? stem.endIndex)]))
        }
    }
}
