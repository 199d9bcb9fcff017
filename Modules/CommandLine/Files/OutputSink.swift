import AlcedoProgramSupport
import FoundationEssentials

/// The destination of the files of one image. Writing blocks the calling thread.
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

    /// Writes the contents of a still image or of a frame: in a directory, to a file of its own; otherwise, after the
    /// bytes written before.
    ///
    /// - Parameters:
    ///   - data: The bytes to write.
    ///   - frame: The index of the frame, or nil for the still image.
    /// - Throws: ``OutputError`` if the bytes cannot be written.
    func write(_ data: Data, frame: Int?) throws {
        switch target {
        case .standardOutput: try Console.output(data)
        case .file(let file, _): try file.append(data)
        case .directory(let directory): try directory.write(data, named: names.name(index, frame: frame))
        }
    }

    /// Whether each still image and each frame has its own file, which stays complete if a later write fails.
    var writesSeparateFiles: Bool {
        if case .directory = target { true } else { false }
    }

    /// Completes a single output file, after the last write. Does nothing for other targets. Throws ``OutputError`` if
    /// the file cannot receive its name.
    func finish() throws {
        if case .file(let file, _) = target { try file.finish() }
    }

    /// Returns the path that messages and results show for the file of a frame, or of the still image if `frame` is
    /// nil. Returns `-` for standard output.
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

    /// Returns the name of the file of an image, or of one of its frames. The name of a frame's file ends with a plus
    /// sign and a number before the extension. The name of an image's file never does.
    func name(_ index: Int, frame: Int?) -> String {
        guard let frame else { return stems[index] + ending }
        let digits = "\(frame)"
        return "\(stems[index])+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)\(ending)"
    }

    /// Returns the names that the job may write to a directory, so that existing files can be found before the work
    /// begins.
    ///
    /// - Parameters:
    ///   - directory: The path of the output directory.
    ///   - hasFrames: Whether images may have a file for each frame. If so, the number of frames is not known yet, and
    ///     only the names of files that exist in the directory are returned.
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
