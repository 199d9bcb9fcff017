import AlcedoCore
import AlcedoViewBinding
import TestSupport
import Testing

/// A recycled view under thousands of random events, compared after each with a model without receipts, and with the
/// rule that a view displays only its own request's image or a placeholder.
@Suite(.timeLimit(.minutes(10))) @MainActor struct ReuseTests {
    private struct Pending {
        var draw: ReuseModel.Draw
        var isLow: Bool
        var task: Task<Void, Never>

        var serial: Int { isLow ? ReuseTests.lowSerial(draw.serial) : draw.serial }
    }

    nonisolated private static func lowSerial(_ serial: Int) -> Int { serial + 100_000 }

    @MainActor private final class Cell {
        let loader: FakeLoader
        var view = FakeView()
        var binder: ImageBinder
        var model = ReuseModel()
        var random: SeededGenerator
        var pending: [Pending] = []
        var last: ReuseModel.Draw?
        var taken: FakeView.Shown?
        var bound = 0
        var ended = 0

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            loader = FakeLoader()
            binder = ImageBinder(view: view, pipeline: loader)
        }

        func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }

        /// Performs a random event of a cell.
        func step(_ serial: Int) async {
            switch Int.random(in: 0..<24, using: &random) {
            case 0..<9: await bind(serial)
            case 9: cancel()
            case 10: bindNothing()
            case 11: await retry()
            case 12: await changeSize()
            case 13: replaceView()
            case 14..<18: await tell()
            default: await endLoad()
            }
        }

        private func bind(_ serial: Int) async {
            let draw = ReuseModel.Draw(
                image: Int.random(in: 1...20, using: &random), serial: serial, hasPlaceholder: chance(2),
                hasFailureImage: chance(2), keepsCurrentImage: chance(4), hasLowResolution: chance(3),
                showsCachedFirst: chance(4), isTaken: chance(8))
            setMemory(draw.image, chance(4), chance(4))
            var request = ImageRequest(image: draw.image, serial: serial)
            request.showsCachedFirst = draw.showsCachedFirst
            bound += 1
            if model.bind(draw) { last = draw }
            binder.load(request, options: options(draw)) { _ in self.ended += 1 }
            await noteLoad(draw)
        }

        private func options(_ draw: ReuseModel.Draw) -> BindingOptions {
            var options = BindingOptions()
            if draw.hasPlaceholder { options.placeholder = .gray(ReuseModel.placeholder) }
            if draw.hasFailureImage { options.failureImage = .gray(ReuseModel.failure) }
            options.keepsCurrentImage = draw.keepsCurrentImage
            if draw.hasLowResolution {
                options.lowResolution = ImageRequest(image: 50 + draw.image, serial: ReuseTests.lowSerial(draw.serial))
            }
            if draw.isTaken {
                options.onImage = { [weak self] in self?.taken = .image($0.image.gray, $0.layer) }
            }
            return options
        }

        private func setMemory(_ image: Int, _ hasImage: Bool, _ hasLow: Bool) {
            loader.setMemory(hasImage ? .gray(UInt8(image)) : nil, for: ImageRequest(image: image, serial: 0))
            loader.setMemory(hasLow ? .gray(UInt8(50 + image)) : nil, for: ImageRequest(image: 50 + image, serial: 0))
            if hasImage { model.inMemory.insert(image) } else { model.inMemory.remove(image) }
            if hasLow { model.lowInMemory.insert(image) } else { model.lowInMemory.remove(image) }
        }

        /// Records a begun load, to end it later.
        private func noteLoad(_ draw: ReuseModel.Draw) async {
            let known = Set(pending.map(\.task))
            if let task = binder.task, !known.contains(task) {
                pending.append(Pending(draw: draw, isLow: false, task: task))
            }
            if let task = binder.lowResolutionTask, !known.contains(task) {
                pending.append(Pending(draw: draw, isLow: true, task: task))
            }
            // Otherwise the load may be replaced before it has begun.
            guard chance(2) else { return }
            await nextTurn()
            for load in pending where load.task == binder.task || load.task == binder.lowResolutionTask {
                await loader.start(of: load.serial)
            }
        }

        private func cancel() {
            model.cancel()
            binder.cancel()
        }

        private func bindNothing() {
            bound += 1
            model.bindNothing()
            binder.load(nil) { _ in self.ended += 1 }
        }

        private func retry() async {
            let failed = model.failed
            if let failed {
                // Its low-resolution load has the same number as the next one.
                while let index = pending.firstIndex(where: { $0.draw.serial == failed.serial }) {
                    let load = pending.remove(at: index)
                    loader.finish(load.serial, .failure(LoadFailure()))
                    await load.task.value
                }
                model.bind(failed)
            }
            guard binder.retry(completion: { _ in self.ended += 1 }) == (failed != nil) else {
                Issue.record("retried what had not failed, or the reverse")
                return
            }
            guard let failed else { return }
            bound += 1
            last = failed
            await noteLoad(failed)
        }

        private func changeSize() async {
            let sizes = [
                DisplaySize.any, .pending, .target(TargetSize(width: 9, height: 9)),
                .target(TargetSize(width: 0, height: 9)),
            ]
            let size = sizes[Int.random(in: 0..<4, using: &random)]
            view.displaySize = size
            model.size = size == sizes[3] ? .pending : size
            model.viewSizeChanged()
            binder.viewSizeChanged()
            if let last { await noteLoad(last) }
        }

        /// Releases the view. Its loads end later.
        private func replaceView() {
            let size = view.displaySize
            view = FakeView()
            view.displaySize = size
            binder = ImageBinder(view: view, pipeline: loader)
            let before = model
            model = ReuseModel()
            (model.size, model.inMemory, model.lowInMemory) = (before.size, before.inMemory, before.lowInMemory)
            (last, taken) = (nil, nil)
        }

        /// Reports an update of a random load before its end.
        private func tell() async {
            guard let load = pending.filter({ !$0.isLow && loader.isRunning($0.serial) }).randomElement(using: &random)
            else { return }
            let image = UInt8(load.draw.image)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: loader.report(load.serial, .received(1))
            case 1, 2:
                loader.report(load.serial, .preview(100 + image))
                model.preview(load.serial)
            default:
                loader.report(load.serial, .cached(150 + image))
                model.cached(load.serial)
            }
            await nextTurn()
        }

        private func endLoad() async {
            guard let index = pending.indices.randomElement(using: &random) else { return }
            let load = pending.remove(at: index)
            let image = UInt8(load.draw.image)
            let outcome = Int.random(in: 0..<8, using: &random)
            // A retry of the same load has another task.
            switch (load.isLow, outcome) {
            case (true, let outcome):
                loader.finish(load.serial, outcome < 2 ? .failure(LoadFailure()) : .gray(50 + image))
                await load.task.value
                if isCurrent(load) { model.low(load.draw.serial, fails: outcome < 2) }
            case (false, 0..<2):
                if isCurrent(load) { model.fail(load.serial) }
                loader.finish(load.serial, .failure(LoadFailure()))
            case (false, 2):
                if isCurrent(load) { model.cancelBelow(load.serial) }
                loader.finish(load.serial, .failure(CancellationError()))
            default:
                if isCurrent(load) { model.succeed(load.serial) }
                loader.finish(load.serial, .gray(image))
            }
            await load.task.value
        }

        private func isCurrent(_ load: Pending) -> Bool { !load.task.isCancelled }

        /// Ends all loads.
        func finish() async {
            binder.cancel()
            for load in pending {
                loader.finish(load.serial, .gray(UInt8(load.draw.image)))
                await load.task.value
            }
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a reused view never displays another request's image`(seed: UInt64) async {
        let cell = Cell(seed: seed)
        for serial in 1...4_000 {
            await cell.step(serial)
            let (view, model) = (cell.view, cell.model)
            guard view.shown == model.shown, cell.taken == model.taken, cell.binder.isLoading == model.isLoading else {
                Issue.record(
                    "event \(serial): \(view.shown), expected \(model.shown); \(String(describing: cell.taken))")
                return
            }
            if let last = cell.last, !last.keepsCurrentImage, !last.isTaken {
                #expect(ReuseModel.isOwn(view.shown, of: last.image))
            }
        }

        let shown = cell.model.shown
        await cell.finish()

        #expect(cell.view.shown == shown)
        #expect(cell.bound == cell.ended)
        #expect(cell.bound > 1_000)
    }
}
