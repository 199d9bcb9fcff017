import AlcedoProgramSupport
import FoundationEssentials

/// The destination of the files of one image. Writing blocks the calling thread.
struct OutputSink: Sendable {
    enum Target: Sendable {
        case standardOutput
        /// A single file, to which frames are appended.
        case file(OutputFile, path: String)
        case directory(OutputDirectory)
        /// No file: the maker has directories of its own.
        case none
    }

    let target: Target
    let names: FileNames
    let index: Int
    /// The end of the time in which files may be written. Default: nil, for no limit.
    private var deadline: TimeLimit.Deadline?

    init(target: Target, names: FileNames, index: Int) {
        (self.target, self.names, self.index) = (target, names, index)
    }

    /// Returns the same destination, which accepts no file after a deadline.
    func closing(at deadline: TimeLimit.Deadline) -> Self {
        var sink = self
        sink.deadline = deadline
        return sink
    }

    /// Writes the contents of a still image or of a frame: in a directory, to a file of its own; otherwise, after the
    /// bytes written before.
    ///
    /// - Parameters:
    ///   - data: The bytes to write.
    ///   - frame: The index of the frame, or nil for the still image.
    ///   - size: The index of the size among those of the job. Default: 0.
    ///   - isLast: Whether nothing is written for the image afterwards. Default: true.
    /// - Returns: The path that messages and results show: `-` for standard output.
    /// - Throws: ``OutputError`` if the bytes cannot be written, or after the deadline.
    @discardableResult
    func write(_ data: Data, frame: Int?, size: Int = 0, isLast: Bool = true) throws -> String {
        try deadline?.beginWriting(isLast: isLast)
        switch target {
        case .standardOutput:
            try Console.output(data)
            return "-"
        case .file(let file, let path):
            try file.append(data)
            return path
        case .directory(let directory):
            return try directory.write(data, named: names.name(index, frame: frame, size: size))
        case .none: throw OutputError(description: "the job has no output directory")
        }
    }

    /// Whether each still image and each frame has its own file, which stays complete if a later write fails.
    var writesSeparateFiles: Bool {
        switch target {
        case .directory, .none: true
        case .standardOutput, .file: false
        }
    }

    /// Completes a single output file, after the last write. Does nothing for other targets. Throws ``OutputError`` if
    /// the file cannot receive its name.
    func finish() throws {
        if case .file(let file, _) = target { try file.finish() }
    }
}

/// The names of the output files, which are unique.
struct FileNames: Sendable {
    /// The names without extensions: those of all sizes of the first image, then those of the next one.
    private let stems: [String]
    private let sizeCount: Int
    private let ending: String

    /// Creates names from the names of the images.
    ///
    /// - Parameters:
    ///   - images: The images.
    ///   - sizes: The sizes of the files of each image, or none for one file whose size is not part of its name.
    ///   - pattern: The pattern of the names. Default: nil, for the image's name, with the size if there are several.
    ///   - fileExtension: The extension of all files, without a dot.
    init(of images: ImageList, sizes: [Int] = [], pattern: NamePattern? = nil, fileExtension: String) {
        let pattern = pattern ?? (sizes.count > 1 ? .nameAndSize : .name)
        let sizes: [Int?] = sizes.isEmpty ? [nil] : sizes
        var names = UniqueNames()
        stems = images.indices.flatMap { index in
            let stem = images[index].fileStem
            return sizes.map { names.unique(pattern.text(name: stem, size: $0)) }
        }
        sizeCount = sizes.count
        ending = ".\(fileExtension)"
    }

    /// Returns the name of the file of an image in one of its sizes, or of one of its frames. The name of a frame's
    /// file ends with a plus sign and a number before the extension. The name of an image's file never does.
    func name(_ index: Int, frame: Int?, size: Int = 0) -> String {
        let stem = stems[index * sizeCount + size]
        guard let frame else { return stem + ending }
        let digits = "\(frame)"
        return "\(stem)+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)\(ending)"
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
