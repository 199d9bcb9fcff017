import ExampleSupport

/// The options of commands that write files: what is told of them, and whether others go for them.
struct WritingOptions: Sendable {
    static let help =
        """
          --force, -f      replace files that are there already; without it nothing begins. An image is never replaced

        """ + ReportOptions.help

    private(set) var replaces = false
    private(set) var reporting = ReportOptions()

    var report: JobReport { reporting.report }

    /// Takes an option and its value. Returns false for one that is about something else.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--force", "-f": replaces = true
        default: return try reporting.take(option, from: &arguments)
        }
        return true
    }
}
