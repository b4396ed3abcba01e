# R's finetune beside tune_grid, on the work of searches.py in this folder:
#
#   python benchmarks/peers/searches.py --rows rows0.csv 0    # and so for 1 and 2
#   OPENBLAS_NUM_THREADS=1 Rscript benchmarks/peers/finetune.R \
#     rows0.csv rows1.csv rows2.csv benchmarks/results/peers.jsonl
#
# Needs finetune, tune, parsnip, recipes, rsample, workflows, yardstick, kernlab, lme4
# and BradleyTerry2. Seconds are of the processor, with the final fit; the error is that
# of the winner on 4,000 fresh rows. What the last file has already is not run again.
suppressPackageStartupMessages({
  library(finetune); library(parsnip); library(recipes); library(rsample)
  library(workflows); library(yardstick)
})
arguments <- commandArgs(trailingOnly = TRUE)
results <- tail(arguments, 1)
files <- head(arguments, -1)

grid <- expand.grid(
  cost = 10^seq(-1, 3, length.out = 7), rbf_sigma = 10^seq(-4, 0, length.out = 7)
)
# The normalisation of scikit-learn's scaler, and no other: kernlab is told not to
# scale. Probabilities cost kernlab three further fits and are not needed here.
model <- svm_rbf(mode = "classification", cost = tune(), rbf_sigma = tune())
model <- set_engine(model, "kernlab", scaled = FALSE, prob.model = FALSE)
workflow_for <- function(train) {
  scaled <- step_normalize(recipe(y ~ ., data = train), all_numeric_predictors())
  workflow(scaled, model)
}

# The name of a search is its key in the file that both languages write.
search_with <- list(
  "R: finetune `tune_race_anova`" = tune_race_anova,
  "R: finetune `tune_race_win_loss`" = tune_race_win_loss,
  "R: `tune_grid`" = tune_grid
)
run <- function(name, train, grid, seed) {
  set.seed(seed)
  folds <- vfold_cv(train, v = 5, strata = y)
  work <- workflow_for(train)
  began <- proc.time()
  found <- search_with[[name]](work, folds, grid = grid, metrics = metric_set(accuracy))
  winner <- select_best(found, metric = "accuracy")
  final <- fit(finalize_workflow(work, winner), train)
  took <- proc.time() - began
  list(
    final = final, winner = winner, wall = took[["elapsed"]],
    seconds = sum(took[c("user.self", "sys.self", "user.child", "sys.child")]),
    fits = sum(vapply(found$.metrics, nrow, 0L))
  )
}

versions <- paste0(
  '"R": "', R.version$major, ".", R.version$minor, '"',
  paste0(vapply(c("finetune", "tune", "kernlab"), function(name) {
    sprintf(', "%s": "%s"', name, packageVersion(name))
  }, ""), collapse = "")
)
known <- if (file.exists(results)) readLines(results) else character()
warm <- FALSE
for (seed in seq_along(files) - 1L) {
  rows <- read.csv(files[seed + 1L], header = FALSE)
  names(rows)[ncol(rows)] <- "y"
  rows$y <- factor(rows$y)
  train <- rows[1:1000, ]
  test <- rows[-(1:1000), ]
  for (name in names(search_with)) {
    key <- sprintf('{"search": "%s", "seed": %d,', name, seed)
    if (any(startsWith(known, key))) next
    # What R compiles on first use is paid once, as in searches.py.
    if (!warm) for (one in names(search_with)) run(one, train[1:200, ], grid[45:46, ], 0)
    warm <- TRUE
    done <- run(name, train, grid, seed)
    error <- mean(predict(done$final, test)$.pred_class != test$y)
    cat(sprintf(
      paste0(
        '%s "folds": 5, "seconds": %.2f, "wall": %.2f, "error": %.5f, ',
        '"winner": {"cost": %.6g, "rbf_sigma": %.6g}, "fits": %d, "versions": {%s}}\n'
      ),
      key, done$seconds, done$wall, error, done$winner$cost, done$winner$rbf_sigma,
      done$fits, versions
    ), file = results, append = TRUE)
  }
}
