import ExampleSupport
import FoundationEssentials

/// Takes the files that are made of one image. Its calls block.
struct FileSink: Sendable {
    enum Target: Sendable {
        case standardOutput
        /// Frames come one after another.
        case file(OutputFile, path: String)
        case folder(OutputFolder)
    }

    let target: Target
    let names: FileNames
    let index: Int

    /// - Parameter frame: Which frame it is; nil: the image.
    func write(_ data: Data, frame: Int?) throws {
        switch target {
        case .standardOutput: try Console.output(data)
        case .file(let file, _): try file.append(data)
        case .folder(let folder): try folder.write(data, named: names.name(index, frame: frame))
        }
    }

    /// Whether each file is whole by itself, and there whatever becomes of the others.
    var keepsEach: Bool {
        if case .folder = target { true } else { false }
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
        case .folder(let folder): folder.path(of: names.name(index, frame: frame))
        }
    }
}
