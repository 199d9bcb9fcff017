import AlcedoProgramSupport
import FoundationEssentials

/// Takes the files that are made of one image. Its calls block.
struct FileSink: Sendable {
    enum Target: Sendable {
        case standardOutput
        /// Frames come one after another.
        case file(OutputFile, path: String)
        case directory(OutputDirectory)
    }

    let target: Target
    let names: FileNames
    let index: Int

    /// - Parameter frame: Which frame it is; nil: the image.
    func write(_ data: Data, frame: Int?) throws {
        switch target {
        case .standardOutput: try Console.output(data)
        case .file(let file, _): try file.append(data)
        case .directory(let directory): try directory.write(data, named: names.name(index, frame: frame))
        }
    }

    /// Whether each file is whole by itself, and there whatever becomes of the others.
    var writesSeparateFiles: Bool {
        if case .directory = target { true } else { false }
    }

    /// To be called when all has been written.
    func finish() throws {
        if case .file(let file, _) = target { try file.finish() }
    }

    /// Where a file is, to be told.
    func path(frame: Int?) -> String {
        switch target {
        case .standardOutput: "-"
        case .file(_, let path): path
        case .directory(let directory): directory.path(of: names.name(index, frame: frame))
        }
    }
}

/// The names of the files that are made of images, no two alike.
struct FileNames: Sendable {
    private let stems: [String]
    private let ending: String

    /// Names after the images'.
    init(of images: ImageList, fileExtension: String) {
        var names = UniqueNames()
        stems = images.indices.map { names.unique(images[$0].fileStem) }
        ending = ".\(fileExtension)"
    }

    /// The name of an image's file, or of one of its frames': no image's name ends with a plus sign and a number.
    func name(_ index: Int, frame: Int?) -> String {
        guard let frame else { return stems[index] + ending }
        let digits = "\(frame)"
        return "\(stems[index])+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)\(ending)"
    }

    /// Names that may be written to a folder.
    ///
    /// - Parameter hasFrames: Whether those of frames count, of which nobody knows how many there will be: then only such
    ///   names are told as are in the folder already.
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
