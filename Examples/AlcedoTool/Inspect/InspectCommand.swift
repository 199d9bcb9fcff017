import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo inspect`
struct InspectCommand: ToolCommand {
    static let name = "inspect"
    static let help =
        """
        usage: alcedo inspect URL|FILE|FOLDER... [options]

        Says what images are, without decoding a pixel unless --pixels asks for it.

          --pixels         decode every frame, and print the SHA-256 of its rows: straight RGBA of 8 bits, top row first,
                           as stored (no orientation, gamma or profile applied)
          --json           for scripts: one JSON object a line, one for every image, in order; errors are in it
          --quiet, -q      no reports: the exit status says whether all can be read, and problems are told

        """ + InputOptions.help

    private var inputs = InputOptions()
    private var isJSON = false
    private var isQuiet = false
    private var decodesPixels = false

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--json": isJSON = true
        case "--quiet", "-q": isQuiet = true
        case "--pixels": decodesPixels = true
        default: return try inputs.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws { try inputs.take(words, for: Self.name) }

    func run() async throws -> ExitStatus {
        let images = try await inputs.images()
        let configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        let inspector = Inspector(codecs: configuration.codecs, decodesPixels: decodesPixels)
        let decoding = BlockingExecutor(name: "alcedo.inspect", width: 1)
        var status = ExitStatus.success
        // One after another: a list of any length needs the memory of one image.
        for index in images.indices {
            let image = images[index]
            var report = ImageReport(path: image.path)
            do {
                let source = try image.request.get().source
                let data = try await configuration.downloader.download(DownloadRequest(source), progress: nil).data
                let blank = report
                report = try await decoding.run { inspector.inspect(data, blank) }
            } catch {
                let isEmpty = (error as? DownloadError)?.code == .empty
                report.error = .init(code: isEmpty ? "empty" : "unreadable", message: "\(error)")
            }
            if report.error != nil { status = .failure }
            if let error = report.error, !isJSON || isQuiet {
                Console.problem("alcedo: \(image.name): \(error.code): \(image.withoutPassword(error.message))")
            }
            if !isQuiet { Console.output(isJSON ? try JSONLine.text(of: report) : report.text) }
        }
        return status
    }
}
